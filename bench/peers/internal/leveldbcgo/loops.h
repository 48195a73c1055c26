//go:build leveldb && cgo

// What Go calls of C++ LevelDB. Functions that can fail return a message to
// free, or NULL.

#ifndef SIEVETABLE_LOOPS_H_
#define SIEVETABLE_LOOPS_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ldb_options ldb_options;
typedef struct ldb_table ldb_table;
typedef struct ldb_cursor ldb_cursor;
typedef struct ldb_filters ldb_filters;

// Strings of one width, one behind the other.
typedef struct {
  const char* data;
  size_t width;
  size_t n;
} ldb_packed;

int ldb_major_version(void);
int ldb_minor_version(void);

// A table's options. cache_bytes 0 is no block cache, and blocks are then
// checked when they are read.
ldb_options* ldb_options_new(int bits_per_key, size_t block_size,
                             int restart_interval, int snappy,
                             size_t cache_bytes);
void ldb_options_free(ldb_options* options);

// Writes a table of the pairs, to *out if it is not NULL: free it.
char* ldb_write(const ldb_options* options, ldb_packed keys, ldb_packed values,
                char** out, size_t* size);

char* ldb_open(const ldb_options* options, const char* contents, size_t size,
               ldb_table** table);
void ldb_close(ldb_table* table);
int64_t ldb_reads(const ldb_table* table);
int64_t ldb_malloced(void);

ldb_cursor* ldb_cursor_new(ldb_table* table);
void ldb_cursor_free(ldb_cursor* cursor);
char* ldb_get(ldb_cursor* cursor, ldb_packed keys, int present);
char* ldb_scan(ldb_cursor* cursor, int backward, size_t* bytes);
char* ldb_seek(ldb_cursor* cursor, ldb_packed keys);

ldb_filters* ldb_filters_new(int bits_per_key, size_t per_filter);
void ldb_filters_free(ldb_filters* filters);
void ldb_filters_build(ldb_filters* filters, ldb_packed keys);
size_t ldb_filters_contains(const ldb_filters* filters, ldb_packed keys);

#ifdef __cplusplus
}
#endif

#endif  // SIEVETABLE_LOOPS_H_
