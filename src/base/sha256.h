/* sha256.h - internal. SHA-256 (FIPS 180-4), for checksums of files and digests of weights. */
#ifndef LKS_BASE_SHA256_H
#define LKS_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct lks_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} lks_sha256;

enum { LKS_SHA256_HEX = 65 };

void lks__sha256_init(lks_sha256 *s);
void lks__sha256_update(lks_sha256 *s, const void *data, size_t n);
void lks__sha256_final(lks_sha256 *s, unsigned char digest[32]); /* s must be initialised again afterwards */

void lks__sha256_to_hex(const unsigned char digest[32], char hex[LKS_SHA256_HEX]);
/* Everything at once. */
void lks__sha256_hex(const void *data, size_t n, char hex[LKS_SHA256_HEX]);

#endif
