package dbfile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/codecs"
)

var noError = errtest.NoError

// textPairs returns n pairs of text only.
func textPairs(n int) (pairs []workload.Pair) {
	for i := range n {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "key%06d\n", i), Value: fmt.Appendf(nil, "the value of key %d\n", i*i)})
	}
	return pairs
}

func compress(t *testing.T, contents []byte) (gz, zst []byte) {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(contents)
	noError(t, errors.Join(err, w.Close()))
	e, err := zstd.NewWriter(nil)
	noError(t, err)
	return out.Bytes(), e.EncodeAll(contents, nil)
}

func tarOf(t *testing.T, name string, contents []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	noError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o666, Size: int64(len(contents))}))
	_, err := w.Write(contents)
	noError(t, errors.Join(err, w.Close()))
	return out.Bytes()
}

// For a file that is not a LevelDB table, the error says what it is and what to do.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	sound := tabletest.Build(t, &table.WriterOptions{}, textPairs(1000))
	ending := func(magic uint64) []byte {
		return binary.LittleEndian.AppendUint64(bytes.Clone(sound[:len(sound)-8]), magic)
	}
	gz, zst := compress(t, sound)
	comparer := "leveldb.BytewiseComparator"
	edit := "\x01" + string(rune(len(comparer))) + comparer + "\x02\x00"
	batch := "\x01\x01A\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x01a\x01b" // the sequence number looks like a comparer called A
	skippable := append([]byte("\x5a\x2a\x4d\x18\x01\x00\x00\x00x"), zst...)
	for _, tt := range []struct {
		name     string
		contents []byte
		want     string
	}{
		{"block.sst", ending(0x88e241b785f4cff7), "a RocksDB block-based table, not a LevelDB table: read it with sst_dump --file=%s --command=scan"},
		{"plain.sst", ending(0x8242229663bf9564), "a RocksDB plain table"},
		{"cuckoo.sst", ending(0x926789d0c5f17873), "a RocksDB cuckoo table"},
		{"pebble.sst", ending(0xb3aa9ff0b3aa9ff0), "a Pebble table, not a LevelDB table: read it with pebble sstable scan %s"},
		{"magic.sst", []byte("\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3"), "a Pebble table"},
		{"users.ldb.gz", gz, "compressed with gzip, not a LevelDB table: decompress it first: gzip -dc %s > OUT"},
		{"users.ldb.zst", zst, "compressed with zstd, not a LevelDB table: decompress it first: zstd -dc %s > OUT"},
		{"two.zst", append(bytes.Clone(zst), zst...), "compressed with zstd"},
		{"skippable.zst", append(bytes.Clone(zst), skippable...), "compressed with zstd"},
		{"empty.ldb", nil, "an empty file, not a LevelDB table"},
		{"users.tsv", []byte("a\tb\n"), "text, not a LevelDB table: to build a table from it, run: sst build -o "},
		{"line.txt", []byte(strings.Repeat("one line", 10)), "text"},
		{"word.txt", []byte("abc"), "text, not a LevelDB table: use an .ldb, .sst or .filter file"},
		{"LOG", []byte("=============== Jan 1, 2024 ===============\n12:00:00 db@open opening\tx\n"), "text, not a LevelDB table: use an .ldb, .sst or .filter file"},
		{"short.json", []byte(`{"a":1}`), "text"},
		{"latin1.txt", []byte("na\xefve"), "text"},
		{"latin1.tsv", []byte(strings.Repeat("caf\xe9\tna\xefve\r\n", 1000)), "text"},
		{"little.txt", []byte("\xff\xfek\x00\xe9\x00\t\x00\x3d\xd8\x00\xde\r\x00\n\x00"), "UTF-16 text, not a LevelDB table: convert it first: iconv -f utf-16 -t utf-8 %s > OUT"},
		{"big.txt", []byte("\xfe\xff" + strings.Repeat("\x00k\x65\xe5", 5000)), "UTF-16 text"},
		{"unmarked.txt", []byte("k\x00e\x00y\x00\t\x00\x14\x20v\x00\r\x00\n\x00"), "UTF-16 text, not a LevelDB table: convert it first: iconv -f utf-16le -t utf-8 %s > OUT"},
		{"long16.txt", []byte(strings.Repeat("\xe9\x00k\x00e\x00y\x00 \x00", 5000)), "UTF-16 text"},
		{"users.ldb.xz", []byte("\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F"), "compressed with xz, not a LevelDB table: decompress it first: xz -dc %s > OUT"},
		{"users.ldb.bz2", []byte("BZh91AY&SY\x9b\x0b\x1d"), "compressed with bzip2, not a LevelDB table: decompress it first: bzip2 -dc %s > OUT"},
		{"users.zip", []byte("PK\x03\x04\x14\x00\x00\x00"), "a zip archive, not a LevelDB table: extract it first: unzip %s"},
		{"empty.zip", []byte("PK\x05\x06" + strings.Repeat("\x00", 18)), "an empty zip archive, not a LevelDB table: list it with unzip -l %s"},
		{"users.tar", tarOf(t, "users.ldb", sound), "a tar archive, not a LevelDB table: extract it first: tar -xf %s"},
		{"sst", []byte("\x7fELF\x02\x01\x01\x00"), "a program or library (ELF), not a LevelDB table: use an .ldb, .sst or .filter file"},
		{"users.db", []byte("SQLite format 3\x00\x10\x00"), "a SQLite database, not a LevelDB table: read it with sqlite3 %s"},
		{"seen.state", []byte("SieveGro\x01\x00\x00\x00"), "the state of sieve seen, not a LevelDB table: continue it with sieve seen --state %s"},
		{"blocked.state", []byte("SieveBlk\x01\x00\x00\x00"), "a blocked Bloom filter, not a LevelDB table: continue it with sieve seen --state %s if "},
		{"counts", []byte("SieveCnt\x01\x00\x00\x00"), "the counts of a Bloom filter, not a LevelDB table: open it with filter.OpenCountingBloom"},
		{"bom.txt", []byte("\ufeffkey\tvalue\r\n"), "text"},
		{"long.txt", []byte("x" + strings.Repeat("日本語\n", 1<<16)), "text"},
		{"000003.log", filetest.Log(t, batch), "the log of a database, not a LevelDB table: read it with sst scan, or make a table of it: sst merge %s -o OUT"},
		{"renamed", filetest.Log(t, batch, "more"), "the log of a database, not a LevelDB table: name it .log to read it with sst scan, get, diff, stats, verify, layout or repair, or give the database's directory, "},
		{"long.bin", filetest.Log(t, strings.Repeat("x", 1<<20)), "a file in LevelDB's log format whose records are not write batches, such as a Firestore export, not a LevelDB table: print its records with sst scan "},
		{"000004.log", nil, "the log of a database"},
		{"renamed.bin", filetest.Log(t, edit), "the MANIFEST of a database, not a LevelDB table: list it with sst layout %s, or give the database's directory, "},
		{"MANIFEST-000002", []byte("\x00damaged"), "the MANIFEST of a database"},
		{"CURRENT", []byte("MANIFEST-000002\n"), "the CURRENT file of a database"},
		{"pointer.ldb", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"), "a Git LFS pointer, not a LevelDB table: fetch the file that it stands for: git lfs pull"},
		{"annex.ldb", []byte("/annex/objects/SHA256E-s31390--f50d.ldb\n"), "a git-annex pointer, not a LevelDB table: fetch the file that it stands for: git annex get %s"},
		{"link.ldb", []byte("../.git/annex/objects/Xk/2v/SHA256E-s7--6a.ldb/SHA256E-s7--6a.ldb"), "a git-annex pointer"},
		{"list.txt", []byte("./.git/annex/objects/a\n./.git/annex/objects/b\n"), "text"},
		{"netease.ldb", append([]byte("\x80\x1d\x30\x01"), gz...), "encrypted by NetEase's Minecraft, not a LevelDB table: decrypt a copy of the whole directory first: after its first 4 bytes"},
		{"old.ldb", append([]byte("\x90\x1d\x30\x01"), gz...), "encrypted by NetEase's Minecraft, not a LevelDB table: decrypt a copy"},
		{"CURRENT.bak", []byte("MANIFEST-000002"), "the CURRENT file of a database"},
	} {
		path := filepath.Join(t.TempDir(), tt.name)
		noError(t, os.WriteFile(path, tt.contents, 0o666))
		want := path + ": " + strings.ReplaceAll(tt.want, "%s", format.ShellPath(path))
		if _, err := Open(path, Options{}); err == nil || errors.Is(err, table.ErrCorrupt) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", tt.name, err, want)
		}
	}
}

// A table that is cut short is damaged, and is not mistaken for another type of file wherever it ends. The one
// exception is a cut right after a first block that is a zstd frame: this is a zstd file too.
func TestCutTablesAreDamaged(t *testing.T) {
	t.Parallel()
	for name, codec := range map[string]table.Codec{
		"none": table.NoCompression, "snappy": table.Snappy, "zstd": codecs.Zstd, "zlib": codecs.Zlib, "deflate": codecs.Deflate,
	} {
		for _, pairs := range [][]workload.Pair{textPairs(2), textPairs(200), {{Key: []byte("a\n"), Value: []byte(strings.Repeat("text\n", 20_000))}}} {
			contents := tabletest.Build(t, &table.WriterOptions{Compression: codec}, pairs)
			layout, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), &table.ReaderOptions{Codecs: codecs.All()})
			noError(t, err)
			step := 7
			if long.Enabled() {
				step = 1
			}
			for n := 1; n < len(contents); n += step {
				if name == "zstd" && n == int(layout.Data[0].Length) {
					continue
				}
				if what := recognized(contents[:n]); what != "" {
					t.Errorf("%s: %d bytes of %d are taken for %s", name, n, len(contents), what)
				}
			}
		}
	}
}

// recognized returns the message of foreignError for a file with these contents.
func recognized(contents []byte) string {
	f := &File{Path: "x.ldb", Size: int64(len(contents)), Src: bytes.NewReader(contents)}
	if _, err := f.foreignError(Options{}); err != nil {
		return err.Error()
	}
	return ""
}

// Damaged files that resemble other types are not mistaken for them.
func TestDamagedIsNotForeign(t *testing.T) {
	t.Parallel()
	_, zst := compress(t, []byte(strings.Repeat("x", 1000)))
	wrong := filetest.Log(t, "record")
	wrong[0] ^= 1
	for name, contents := range map[string]string{
		"zeros": strings.Repeat("\x00", 10_000), "control characters": "a\x1bb\n",
		"a log's wrong checksum": string(wrong), "a log's record that is cut": string(filetest.Log(t, "record")[:10]),
		"zstd cut short": string(zst[:len(zst)-1]), "zstd and more": string(zst) + "\x02more", "zstd's magic number": "\x28\xb5\x2f\xfd", "gzip's magic number": "\x1f\x8b",
		"gzip of reserved flags": "\x1f\x8b\x08\xe0aaaa", "few letters": "ab",
		"tar's name at its place":     strings.Repeat("\x01", 257) + "ustar" + strings.Repeat("\x00", 250),
		"NetEase's start that is cut": "\x80\x1d\x30", "NetEase's start further on": "\x00\x80\x1d\x30\x01",
		"few letters behind a mark": "\xff\xfea\x00", "UTF-16 with control characters": "\xff\xfea\x00b\x00\x1b\x00", "half of a magic number": "\xfd7zX\x00",
		"few letters of UTF-16": "k\x00e\x00y\x00", "big-endian UTF-16, or a block": "\x00k\x00e\x00y\x00e\x00y\x00",
		"UTF-16 of few letters and control characters": "k\x00e\x00y\x00e\x00\x1b\x00y\x00",
		"Latin-1 with control characters":              "na\xefve\x1b" + strings.Repeat("x", 100), "bytes that are no letters": strings.Repeat("\xe9\xff\xa0(", 20),
	} {
		if what := recognized([]byte(contents)); what != "" {
			t.Errorf("%s: taken for %s", name, what)
		}
	}
}
