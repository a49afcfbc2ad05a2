"""PyTorch: channels_last tensors, fused Adam, batches gathered by a permutation. --compiled: torch.compile."""
import peer

o = peer.options()
import time
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(o.threads)
torch.manual_seed(0)
PHOTOS = o.kind in ("mobilenet", "frozen")


def cnn():
    rows, columns = o.pictures
    return nn.Sequential(nn.Conv2d(1, o.filters[0], 3, padding=1), nn.ReLU(), nn.Flatten(),
                         nn.Linear(o.filters[0] * rows * columns, 10))


def ae():
    a, b = o.filters
    return nn.Sequential(nn.Conv2d(1, a, 3, 2, 1), nn.ReLU(), nn.Conv2d(a, b, 3, 2, 1), nn.ReLU(),
                         nn.ConvTranspose2d(b, b, 3, 2, 1, 1), nn.ReLU(), nn.ConvTranspose2d(b, a, 3, 2, 1, 1), nn.ReLU(),
                         nn.Conv2d(a, 1, 3, 1, 1), nn.Sigmoid())


def mlp():
    m, n = o.filters
    return nn.Sequential(nn.Flatten(), nn.Linear(784, m), nn.ReLU(), nn.Linear(m, n), nn.ReLU(), nn.Linear(n, 10))


class Frozen(nn.Module):
    """The base runs in inference mode, without a graph, whatever train() says."""

    def __init__(self, base, head):
        super().__init__()
        self.base, self.head = base, head

    def train(self, mode=True):
        super().train(mode)
        self.base.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            x = self.base(x)
        return self.head(x)


def mobilenet():
    import torchvision
    base = torchvision.models.mobilenet_v2(weights=None).features
    mean = [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    if o.kind == "mobilenet":
        return nn.Sequential(base, *mean, nn.Linear(1280, 1))
    base.requires_grad_(False)
    return Frozen(base, nn.Sequential(*mean, nn.Linear(1280, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 1)))


def build():
    net = {"cnn": cnn, "ae": ae, "mlp": mlp, "mobilenet": mobilenet, "frozen": mobilenet}[o.kind]()
    return net.to(memory_format=torch.channels_last)


def data():
    images, labels = map(torch.from_numpy, peer.photos(o) if PHOTOS else peer.mnist(o))
    images = images.permute(0, 3, 1, 2) # NHWC in memory: channels_last
    return images, labels if PHOTOS else labels.long()


def train():
    images, labels = data()
    net = build().train()
    optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], fused=True)
    forward = torch.compile(net) if o.compiled else net
    first_step = peer.FirstStep()

    def step(rows):
        x = images[rows]
        if not PHOTOS:
            x = x.float().div_(255)
        x = x.contiguous(memory_format=torch.channels_last)
        y = forward(x)
        if o.kind == "ae":
            loss = F.mse_loss(y, x)
        elif PHOTOS:
            loss = F.binary_cross_entropy_with_logits(y[:, 0], labels[rows])
        else:
            loss = F.cross_entropy(y, labels[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        first_step.mark()
        return loss.detach()

    def epoch():
        began, total = time.perf_counter(), 0.0
        for rows in torch.randperm(o.limit)[:o.steps * o.batch].split(o.batch):
            total += step(rows)
        total = float(total) / o.steps
        return time.perf_counter() - began, total

    return epoch, first_step


def predict():
    net = build().eval()
    forward = torch.compile(net) if o.compiled else net
    x = torch.from_numpy(peer.one_picture(o)).permute(0, 3, 1, 2)

    def call():
        with torch.inference_mode():
            return forward(x).numpy()

    return lambda: (peer.calls(call), None), None


def matmul():
    w, x, b = map(torch.from_numpy, peer.matmul_operands())
    plain = lambda w, x, b: torch.baddbmm(b, w, x)
    step = torch.compile(plain) if o.compiled else plain
    return lambda: (peer.calls(lambda: step(w, x, b)), None), None


work, first_step = matmul() if o.kind == "matmul" else predict() if o.predict else train()
peer.serve(o, "PyTorch, compiled" if o.compiled else "PyTorch", work, first_step)
