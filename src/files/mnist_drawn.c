/* mnist_drawn.c - digits for a machine that can get no data at all. Each digit is a few strokes, shaken, sheared, scaled
 * and shifted at random, drawn with a pen of random width. Only sums, products and square roots are used, and the
 * numbers come from Philox by example, so every machine draws the same pixels. */
#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "mnist.h"

enum { SIDE = 28, MAX_POINTS = 64, CURVE_STEPS = 6 };

typedef struct point {
    float x, y;
} point;

/* Strokes of a digit in a square from 0 to 1, y downwards: "M x y" starts, "L x y" a line, "Q x y x y" a parabola over a
 * control point. Coordinates are percent. */
static const signed char strokes[10][40] = {
    { 'M', 50, 5, 'Q', 15, 5, 18, 50, 'Q', 20, 95, 50, 95, 'Q', 82, 95, 82, 50, 'Q', 82, 5, 50, 5, 0 },
    { 'M', 35, 25, 'L', 55, 5, 'L', 52, 95, 0 },
    { 'M', 20, 28, 'Q', 25, 3, 52, 5, 'Q', 84, 8, 74, 38, 'Q', 64, 62, 18, 93, 'L', 84, 92, 0 },
    { 'M', 22, 12, 'Q', 80, -4, 74, 28, 'Q', 68, 46, 42, 46, 'Q', 84, 46, 78, 74, 'Q', 70, 100, 20, 90, 0 },
    { 'M', 60, 5, 'L', 18, 62, 'L', 86, 60, 'M', 66, 34, 'L', 62, 96, 0 },
    { 'M', 78, 6, 'L', 34, 8, 'L', 28, 44, 'Q', 80, 30, 80, 66, 'Q', 76, 100, 20, 90, 0 },
    { 'M', 66, 5, 'Q', 20, 24, 22, 68, 'Q', 24, 98, 52, 95, 'Q', 82, 92, 78, 66, 'Q', 72, 42, 24, 62, 0 },
    { 'M', 18, 10, 'L', 82, 8, 'Q', 56, 46, 44, 96, 0 },
    { 'M', 50,  48, 'Q', 16, 36, 26,  16, 'Q', 50, -4, 74,  16, 'Q', 80, 36, 50,
      48,  'Q', 10, 66,  24, 86, 'Q', 50, 106, 76, 86, 'Q', 86, 64,  50, 48, 0 },
    { 'M', 78, 34, 'Q', 68, 58, 38, 52, 'Q', 12, 42, 28, 16, 'Q', 56, -6, 76, 18, 'Q', 82, 50, 66, 96, 0 },
};

/* Random numbers of one example, one after the other. */
typedef struct dice {
    uint32_t example, stream, block, left;
    lks_philox_block now;
} dice;

static float roll(dice *d, float low, float high)
{
    if (d->left == 0) {
        const uint32_t counter[4] = { d->block++, d->example, 0, d->stream };
        d->now = lks__philox(28, counter);
        d->left = 4;
    }
    return low + (high - low) * lks__unit_float(d->now.word[--d->left]);
}

/* Corners of all strokes; pen_down[i] says whether a line leads from point i - 1 to point i. */
typedef struct path {
    point p[MAX_POINTS];
    unsigned char pen_down[MAX_POINTS];
    int n;
} path;

static void add(path *s, point p, int pen_down)
{
    if (s->n == MAX_POINTS) return;
    s->p[s->n] = p;
    s->pen_down[s->n++] = (unsigned char)pen_down;
}

static point read_point(const signed char **at, dice *d)
{
    point p = { (float)(*at)[0] * 0.01f + roll(d, -0.035f, 0.035f),
                (float)(*at)[1] * 0.01f + roll(d, -0.035f, 0.035f) };

    *at += 2;
    return p;
}

static void trace(const signed char *at, dice *d, path *s)
{
    while (*at != 0) {
        signed char kind = *at++;
        point a = s->n > 0 ? s->p[s->n - 1] : (point){ 0, 0 }, b = read_point(&at, d), c;
        if (kind != 'Q') {
            add(s, b, kind == 'L');
            continue;
        }
        c = read_point(&at, d);
        for (int i = 1; i <= CURVE_STEPS; i++) {
            float t = (float)i / CURVE_STEPS, u = 1 - t;
            point q = { u * u * a.x + 2 * u * t * b.x + t * t * c.x, u * u * a.y + 2 * u * t * b.y + t * t * c.y };
            add(s, q, 1);
        }
    }
}

static void transform(path *s, dice *d)
{
    float xx = roll(d, 0.72f, 1.05f), xy = roll(d, -0.32f, 0.18f), yx = roll(d, -0.12f, 0.12f);
    float yy = roll(d, 0.85f, 1.08f), dx = roll(d, -1.5f, 1.5f), dy = roll(d, -1.5f, 1.5f);

    for (int i = 0; i < s->n; i++) {
        float x = s->p[i].x - 0.5f, y = s->p[i].y - 0.5f;
        s->p[i].x = 13.5f + dx + 19.0f * (xx * x + xy * y);
        s->p[i].y = 13.5f + dy + 19.0f * (yx * x + yy * y);
    }
}

static float distance(point a, point b, float x, float y)
{
    float vx = b.x - a.x, vy = b.y - a.y, length = vx * vx + vy * vy;
    float t = length > 0 ? ((x - a.x) * vx + (y - a.y) * vy) / length : 0;

    if (t < 0) t = 0;
    if (t > 1) t = 1;
    x -= a.x + t * vx;
    y -= a.y + t * vy;
    return sqrtf(x * x + y * y);
}

static int clamp(float v)
{
    return v < 0 ? 0 : v > SIDE - 1 ? SIDE - 1 : (int)v;
}

static void draw_line(point a, point b, float radius, unsigned char *pixels)
{
    float reach = radius + 1;
    int x0 = clamp(fminf(a.x, b.x) - reach), x1 = clamp(fmaxf(a.x, b.x) + reach + 1);
    int y0 = clamp(fminf(a.y, b.y) - reach), y1 = clamp(fmaxf(a.y, b.y) + reach + 1);

    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            float ink = (radius + 0.5f - distance(a, b, (float)x, (float)y)) * 255.0f;
            unsigned char v = ink <= 0 ? 0 : ink >= 255 ? 255 : (unsigned char)ink;
            if (v > pixels[y * SIDE + x]) pixels[y * SIDE + x] = v;
        }
}

static void draw_digit(uint32_t example, uint32_t stream, unsigned char *label, unsigned char *pixels)
{
    dice d = { .example = example, .stream = stream };
    path s = { .n = 0 };
    float radius;

    *label = (unsigned char)roll(&d, 0, 10);
    trace(strokes[*label], &d, &s);
    transform(&s, &d);
    radius = roll(&d, 0.7f, 1.5f);
    for (int i = 1; i < s.n; i++)
        if (s.pen_down[i]) draw_line(s.p[i - 1], s.p[i], radius, pixels);
}

lks_status lks__mnist_draw(int first, lks_mnist_set *set)
{
    int64_t n = lks__mnist_files[first].count;
    uint32_t stream = lks__philox_stream("mnist", first == 0 ? "train" : "test");
    lks_tensor *images = lks_tensor_create(LKS_UINT8, lks_shape(n, SIDE, SIDE));
    lks_tensor *labels = lks_tensor_create(LKS_UINT8, lks_shape(n));

    if (images == NULL || labels == NULL) {
        lks_tensor_release(images);
        lks_tensor_release(labels);
        return LKS_E_NOMEM;
    }
    for (int64_t i = 0; i < n; i++)
        draw_digit((uint32_t)i, stream, (unsigned char *)lks_tensor_data(labels) + i,
                   (unsigned char *)lks_tensor_data(images) + i * SIDE * SIDE);
    lks__mnist_release(set);
    set->t[first] = images;
    set->t[first + 1] = labels;
    return LKS_OK;
}
