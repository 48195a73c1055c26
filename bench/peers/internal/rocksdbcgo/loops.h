//go:build rocksdb && cgo

// What Go calls of RocksDB. Functions that can fail return a message to free,
// or NULL.

#ifndef SIEVETABLE_ROCKSDB_LOOPS_H_
#define SIEVETABLE_ROCKSDB_LOOPS_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rdb_table rdb_table;
typedef struct rdb_reader rdb_reader;
typedef struct rdb_cursor rdb_cursor;

// Strings of one width, one behind the other.
typedef struct {
  const char* data;
  size_t width;
  size_t n;
} rdb_packed;

// How tables are written.
typedef struct {
  int bits_per_key;
  int block_size;
  int restart_interval;
  int snappy;
} rdb_options;

const char* rdb_version(void);

// Whether the library was built with its assertions, which take time.
int rdb_asserts(void);

// Writes a table of the pairs and discards it.
char* rdb_write(rdb_options options, rdb_packed keys, rdb_packed values);

// Makes a database of one table of the pairs, in memory.
char* rdb_build(rdb_options options, rdb_packed keys, rdb_packed values,
                rdb_table** table);
void rdb_table_free(rdb_table* table);

// Opens the database. cache_bytes 0 is no block cache.
char* rdb_open(rdb_table* table, size_t cache_bytes, rdb_reader** reader);
void rdb_close(rdb_reader* reader);

rdb_cursor* rdb_cursor_new(rdb_reader* reader);
void rdb_cursor_free(rdb_cursor* cursor);
char* rdb_get(rdb_cursor* cursor, rdb_packed keys, int present);
char* rdb_scan(rdb_cursor* cursor, int backward, size_t* bytes);
char* rdb_seek(rdb_cursor* cursor, rdb_packed keys);

#ifdef __cplusplus
}
#endif

#endif  // SIEVETABLE_ROCKSDB_LOOPS_H_
