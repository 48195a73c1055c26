// dbtool writes and reads whole databases with C++ LevelDB's own code, for the
// Go package above it. It uses no more of the C++ library than it must: how
// long it takes to start is measured.

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "common.h"
#include "leveldb/comparator.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/write_batch.h"

namespace {

using leveldb::Slice;
using leveldb::Status;

leveldb::Options DatabaseOptions() {
  leveldb::Options options;
  options.filter_policy = leveldb::NewBloomFilterPolicy(10);
  return options;
}

std::unique_ptr<leveldb::DB> Open(const leveldb::Options& options,
                                  const char* dir) {
  leveldb::DB* db;
  Check(leveldb::DB::Open(options, dir, &db));
  return std::unique_ptr<leveldb::DB>(db);
}

// AppendEscaped appends what sst prints of the bytes: escapes of Go strings for
// the backslash and for control characters.
void AppendEscaped(std::string* line, const Slice& bytes) {
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  while (p < end) {
    const char* plain = p;
    while (p < end && *p >= ' ' && *p <= '~' && *p != '\\') p++;
    line->append(plain, p);
    if (p == end) return;
    const unsigned char c = *p++;
    if (c >= 0x80)
      Check(Status::NotSupported("bytes of 0x80 and above are not printed"));
    const char* const letter = std::strchr("\aa\bb\ff\nn\rr\tt\vv\\\\", c);
    if (c != 0 && letter != nullptr) {
      line->append({'\\', letter[1]});
    } else {
      const char* const digits = "0123456789abcdef";
      line->append({'\\', 'x', digits[c >> 4], digits[c & 15]});
    }
  }
}

void AppendHex(std::string* line, const Slice& bytes) {
  const char* const digits = "0123456789abcdef";
  for (size_t i = 0; i < bytes.size(); i++) {
    const unsigned char c = bytes[i];
    line->append({digits[c >> 4], digits[c & 15]});
  }
}

void Write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    Check(Status::IOError("standard output cannot be written"));
}

// scan DIR limit and dump DIR: a line for each pair, as sst scan prints it, or
// as sst scan -f hex does. A limit of 0 is none.
int Scan(const char* dir, int limit,
         void (*append)(std::string*, const Slice&)) {
  const std::unique_ptr<leveldb::DB> db = Open(DatabaseOptions(), dir);
  const std::unique_ptr<leveldb::Iterator> it(
      db->NewIterator(leveldb::ReadOptions()));
  std::string lines;
  int n = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    append(&lines, it->key());
    lines.push_back('\t');
    append(&lines, it->value());
    lines.push_back('\n');
    if (lines.size() >= 64 << 10) {
      Write(lines);
      lines.clear();
    }
    if (++n == limit) break;
  }
  Write(lines);
  Check(it->status());
  return 0;
}

// repair DIR: repairs the database, and prints it as dump does.
int Repair(const char* dir) {
  Check(leveldb::RepairDB(dir, DatabaseOptions()));
  return Scan(dir, 0, AppendHex);
}

// get DIR KEY: the value as sst get prints it; the status is 1 if there is none.
int Get(const char* dir, const char* key) {
  const std::unique_ptr<leveldb::DB> db = Open(DatabaseOptions(), dir);
  std::string value, line;
  const Status s = db->Get(leveldb::ReadOptions(), key, &value);
  if (s.IsNotFound()) return 1;
  Check(s);
  AppendEscaped(&line, value);
  line.push_back('\n');
  Write(line);
  return 0;
}

// Mix is the bijection of splitmix64.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// KeyOf must return what the Go package's Key does.
std::string KeyOf(uint64_t i) {
  char key[17];
  std::snprintf(key, sizeof key, "%016llx",
                static_cast<unsigned long long>(Mix(i)));
  return key;
}

// ValueOf returns 100 to 999 characters, of which three fifths do not compress
// and the others do. Some want an escape.
std::string ValueOf(uint64_t i) {
  uint64_t random = Mix(~i);
  const size_t size = 100 + random % 900;
  std::string value;
  while (value.size() < size * 3 / 5) {
    random = Mix(random);
    for (int shift = 0; shift < 60; shift += 6)
      value.push_back('0' + (random >> shift & 63));  // with the backslash
  }
  while (value.size() < size) value += "\n\tcity=Lisbon; country=Portugal; ";
  value.resize(size);
  return value;
}

// Settle returns when no compaction ended for a while.
void Settle(leveldb::DB* db) {
  std::string before, now;
  for (int quiet = 0; quiet < 20; quiet++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    db->GetProperty("leveldb.stats", &now);
    if (now != before) quiet = 0;
    before = now;
  }
}

// make DIR n: a database of n keys in random order, of which one in 50 is deleted
// again, and some are written twice. It is closed, with the last writes in its
// log.
int Make(const char* dir, uint64_t n) {
  leveldb::Options options = DatabaseOptions();
  options.create_if_missing = true;
  options.error_if_exists = true;
  const std::unique_ptr<leveldb::DB> db = Open(options, dir);
  const leveldb::WriteOptions write;
  for (uint64_t i = 0; i < n; i++) {
    Check(db->Put(write, KeyOf(i), ValueOf(i)));
    if (i % 50 == 49) Check(db->Delete(write, KeyOf(i - 25)));
    if (i % 10 == 9) Check(db->Put(write, KeyOf(i / 50 * 50), ValueOf(~i)));
  }
  Settle(db.get());
  return 0;
}

// churn DIR reuse_logs: opens the database, says so, and does with it what stdin
// says, as the Go package history has it, until it is killed.
int Churn(const char* dir, bool reuse_logs) {
  leveldb::Options options = DatabaseOptions();
  options.create_if_missing = true;
  options.reuse_logs = reuse_logs;
  options.write_buffer_size = 64 << 10;
  options.block_size = 1 << 10;
  const std::unique_ptr<leveldb::DB> db = Open(options, dir);
  Write("ready\n");
  std::fflush(stdout);
  std::vector<const leveldb::Snapshot*> snapshots;
  leveldb::WriteBatch batch;
  uint32_t kind, number, key_length, value_length;
  while (ReadU32(&kind) && ReadU32(&number) && ReadU32(&key_length) &&
         ReadU32(&value_length)) {
    const std::string key = ReadString(key_length);
    const std::string value = ReadString(value_length);
    const Slice begin(key), end(value);
    leveldb::WriteOptions write;
    switch (kind) {
      case 0:
        batch.Delete(key);
        break;
      case 1:
        batch.Put(key, value);
        break;
      case 2:
        snapshots.push_back(db->GetSnapshot());
        break;
      case 5:
        db->CompactRange(&begin, &end);
        break;
      case 6:
        write.sync = number > 0;
        Check(db->Write(write, &batch));
        batch.Clear();
        break;
      default:
        for (const leveldb::Snapshot* s : snapshots) db->ReleaseSnapshot(s);
        snapshots.clear();
    }
  }
  for (const leveldb::Snapshot* s : snapshots) db->ReleaseSnapshot(s);
  return 0;
}

// PrintAll appends a line for each pair, as sst scan -f hex prints it, and checks
// that lookups find each key, and none that is longer.
void PrintAll(leveldb::DB* db) {
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  const std::unique_ptr<leveldb::Iterator> it(db->NewIterator(read));
  std::string lines, value;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    AppendHex(&lines, it->key());
    lines.push_back('\t');
    AppendHex(&lines, it->value());
    lines.push_back('\n');
    Check(db->Get(read, it->key(), &value));
    if (Slice(value) != it->value())
      Check(Status::Corruption("Get has another value", it->key()));
    if (!db->Get(read, it->key().ToString() + "~~", &value).IsNotFound())
      Check(Status::Corruption("Get finds what is not there", it->key()));
  }
  Check(it->status());
  Write(lines);
}

// FromTheEnd is the bytewise order backward, which the Go package's test has too.
class FromTheEnd : public leveldb::Comparator {
 public:
  const char* Name() const override { return "from the end"; }
  int Compare(const Slice& a, const Slice& b) const override {
    return b.compare(a);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// judge DIR comparator: opens the database, which must be there, with paranoid checks, and
// prints it; does the writes that stdin has, compacts all, and closes it; opens
// and prints it again, behind a line "again".
int Judge(const char* dir, const std::string& comparator) {
  const FromTheEnd from_the_end;
  leveldb::Options options = DatabaseOptions();
  if (comparator == from_the_end.Name()) options.comparator = &from_the_end;
  options.paranoid_checks = true;
  options.write_buffer_size = 64 << 10;
  options.max_file_size = 1 << 20;
  std::unique_ptr<leveldb::DB> db = Open(options, dir);
  PrintAll(db.get());
  uint32_t kind, number, key_length, value_length;
  while (ReadU32(&kind) && ReadU32(&number) && ReadU32(&key_length) &&
         ReadU32(&value_length)) {
    const std::string key = ReadString(key_length);
    const std::string value = ReadString(value_length);
    const leveldb::WriteOptions write;
    Check(kind == 0 ? db->Delete(write, key) : db->Put(write, key, value));
  }
  db->CompactRange(nullptr, nullptr);
  db.reset();
  db = Open(options, dir);
  Write("again\n");
  PrintAll(db.get());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "make" && argc == 4)
    return Make(argv[2], std::strtoull(argv[3], nullptr, 10));
  if (command == "get" && argc == 4) return Get(argv[2], argv[3]);
  if (command == "scan" && argc == 4)
    return Scan(argv[2], std::atoi(argv[3]), AppendEscaped);
  if (command == "dump" && argc == 3) return Scan(argv[2], 0, AppendHex);
  if (command == "repair" && argc == 3) return Repair(argv[2]);
  if (command == "churn" && argc == 4)
    return Churn(argv[2], std::atoi(argv[3]) != 0);
  if (command == "judge" && argc == 4) return Judge(argv[2], argv[3]);
  std::fprintf(stderr,
               "usage: dbtool make DIR n | get DIR KEY | scan DIR limit | dump "
               "DIR | repair DIR | churn DIR reuse_logs | judge DIR "
               "comparator\n");
  return 2;
}
