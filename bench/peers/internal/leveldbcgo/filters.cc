//go:build leveldb && cgo

#include <algorithm>
#include <string>
#include <vector>

#include "table.h"

using leveldb::Slice;

struct ldb_filters {
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  size_t per_filter;
  std::string bytes;
  std::vector<size_t> ends;  // of each filter in bytes
  std::vector<Slice> keys;   // of one filter
};

ldb_filters* ldb_filters_new(int bits_per_key, size_t per_filter) {
  ldb_filters* f = new ldb_filters;
  f->policy.reset(leveldb::NewBloomFilterPolicy(bits_per_key));
  f->per_filter = per_filter;
  return f;
}

void ldb_filters_free(ldb_filters* filters) { delete filters; }

void ldb_filters_build(ldb_filters* f, ldb_packed keys) {
  f->bytes.clear();
  f->ends.clear();
  for (size_t from = 0; from < keys.n; from += f->per_filter) {
    const size_t to = std::min(from + f->per_filter, keys.n);
    f->keys.clear();
    for (size_t i = from; i < to; i++) f->keys.push_back(At(keys, i));
    f->policy->CreateFilter(f->keys.data(), static_cast<int>(f->keys.size()),
                            &f->bytes);
    f->ends.push_back(f->bytes.size());
  }
}

size_t ldb_filters_contains(const ldb_filters* f, ldb_packed keys) {
  size_t positives = 0, start = 0;
  for (size_t n = 0; n < f->ends.size(); n++) {
    const Slice filter(f->bytes.data() + start, f->ends[n] - start);
    const size_t from = n * f->per_filter;
    const size_t to = std::min(from + f->per_filter, keys.n);
    for (size_t i = from; i < to; i++)
      positives += f->policy->KeyMayMatch(At(keys, i), filter);
    start = f->ends[n];
  }
  return positives;
}
