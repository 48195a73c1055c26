// dbtool writes and reads whole databases with C++ LevelDB, for the Go package
// in the parent directory.

#include <memory>
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

void AppendHex(std::string* line, const Slice& bytes) {
  const char* const digits = "0123456789abcdef";
  for (size_t i = 0; i < bytes.size(); i++) {
    const unsigned char c = bytes[i];
    line->append({digits[c >> 4], digits[c & 15]});
  }
}

void AppendPair(std::string* lines, const Slice& key, const Slice& value) {
  AppendHex(lines, key);
  lines->push_back('\t');
  AppendHex(lines, value);
  lines->push_back('\n');
}

void Write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    Check(Status::IOError("standard output cannot be written"));
}

// dump DIR: prints all pairs in the format of sst scan -f hex.
int Dump(const char* dir) {
  const std::unique_ptr<leveldb::DB> db = Open(DatabaseOptions(), dir);
  const std::unique_ptr<leveldb::Iterator> it(
      db->NewIterator(leveldb::ReadOptions()));
  std::string lines;
  for (it->SeekToFirst(); it->Valid(); it->Next())
    AppendPair(&lines, it->key(), it->value());
  Write(lines);
  Check(it->status());
  return 0;
}

// repair DIR: repairs the database, and prints it as dump does.
int Repair(const char* dir) {
  Check(leveldb::RepairDB(dir, DatabaseOptions()));
  return Dump(dir);
}

// An Op is an operation on a database: see the Go package history.
struct Op {
  uint32_t kind, number;
  std::string key, value;
};

bool ReadOp(Op* op) {
  uint32_t key_length, value_length;
  if (!ReadU32(&op->kind) || !ReadU32(&op->number) || !ReadU32(&key_length) ||
      !ReadU32(&value_length))
    return false;
  op->key = ReadString(key_length);
  op->value = ReadString(value_length);
  return true;
}

// WriteAnswer looks up a key in a snapshot. It writes 1 if the key is found, or
// 0, then the length of the value, both as u32le, and the value.
void WriteAnswer(leveldb::DB* db, const leveldb::Snapshot* snapshot,
                 const std::string& key) {
  leveldb::ReadOptions read;
  read.snapshot = snapshot;
  std::string found;
  const Status s = db->Get(read, key, &found);
  if (!s.IsNotFound()) Check(s);
  WriteU32(s.ok());
  WriteU32(found.size());
  Write(found);
}

// Live opens a database, prints a line, and performs the Ops from stdin until
// it ends or the process is killed.
int Live(const char* dir, leveldb::Options options) {
  options.create_if_missing = true;
  const std::unique_ptr<leveldb::DB> db = Open(options, dir);
  Write("ready\n");
  std::fflush(stdout);
  std::vector<const leveldb::Snapshot*> snapshots;
  leveldb::WriteBatch batch;
  leveldb::WriteOptions write;
  for (Op op; ReadOp(&op);) {
    const Slice begin(op.key), end(op.value);
    switch (op.kind) {
      case 0:
        batch.Delete(op.key);
        break;
      case 1:
        batch.Put(op.key, op.value);
        break;
      case 2:
        snapshots.push_back(db->GetSnapshot());
        break;
      case 3:
        db->CompactRange(nullptr, nullptr);
        break;
      case 4:
        WriteAnswer(db.get(), snapshots.at(op.number), op.key);
        break;
      case 5:
        db->CompactRange(&begin, &end);
        break;
      case 6:
        write.sync = op.number > 0;
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

// live DIR: a new database without compression.
leveldb::Options LiveOptions() {
  leveldb::Options options = DatabaseOptions();
  options.paranoid_checks = true;
  options.error_if_exists = true;
  options.compression = leveldb::kNoCompression;
  return options;
}

// churn DIR reuse_logs: a database with small tables and logs.
leveldb::Options ChurnOptions(bool reuse_logs) {
  leveldb::Options options = DatabaseOptions();
  options.reuse_logs = reuse_logs;
  options.write_buffer_size = 64 << 10;
  options.block_size = 1 << 10;
  return options;
}

// PrintAll prints all pairs in the format of sst scan -f hex. It checks that
// lookups find each key, but not the key followed by "~~".
void PrintAll(leveldb::DB* db) {
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  const std::unique_ptr<leveldb::Iterator> it(db->NewIterator(read));
  std::string lines, value;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    AppendPair(&lines, it->key(), it->value());
    Check(db->Get(read, it->key(), &value));
    if (Slice(value) != it->value())
      Check(Status::Corruption("Get returns another value", it->key()));
    if (!db->Get(read, it->key().ToString() + "~~", &value).IsNotFound())
      Check(Status::Corruption("Get finds an absent key after", it->key()));
  }
  Check(it->status());
  Write(lines);
}

// FromTheEnd is the reverse bytewise order. Go tests use it, too.
class FromTheEnd : public leveldb::Comparator {
 public:
  const char* Name() const override { return "from the end"; }
  int Compare(const Slice& a, const Slice& b) const override {
    return b.compare(a);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// judge DIR comparator: opens an existing database with paranoid checks, prints
// it, performs the writes from stdin, compacts and closes it. Then it opens the
// database again, and prints a line "again" and the pairs.
int Judge(const char* dir, const std::string& comparator) {
  const FromTheEnd from_the_end;
  leveldb::Options options = DatabaseOptions();
  if (comparator == from_the_end.Name()) options.comparator = &from_the_end;
  options.paranoid_checks = true;
  options.write_buffer_size = 64 << 10;
  options.max_file_size = 1 << 20;
  std::unique_ptr<leveldb::DB> db = Open(options, dir);
  PrintAll(db.get());
  const leveldb::WriteOptions write;
  for (Op op; ReadOp(&op);)
    Check(op.kind == 0 ? db->Delete(write, op.key)
                       : db->Put(write, op.key, op.value));
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
  if (command == "dump" && argc == 3) return Dump(argv[2]);
  if (command == "repair" && argc == 3) return Repair(argv[2]);
  if (command == "live" && argc == 3) return Live(argv[2], LiveOptions());
  if (command == "churn" && argc == 4)
    return Live(argv[2], ChurnOptions(std::atoi(argv[3]) != 0));
  if (command == "judge" && argc == 4) return Judge(argv[2], argv[3]);
  std::fprintf(stderr,
               "usage: dbtool dump DIR | repair DIR | live DIR | churn DIR "
               "reuse_logs | judge DIR comparator\n");
  return 2;
}
