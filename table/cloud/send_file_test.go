package cloud_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/set"
)

// SendFile sends the bytes that the line says, of tables of both kinds, and replaces an object.
func TestSendFile(t *testing.T) {
	filterOnly := &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}
	for _, s := range stores {
		for kind, o := range map[string]*table.WriterOptions{"table": nil, "filter": filterOnly} {
			t.Run(s.name+"/"+kind, func(t *testing.T) {
				bucket := s.bucket(t)
				contents, line := wantTable(t, o, workload.W3(1000).Keys, "")
				path := writeFile(t, string(contents))
				for _, before := range []string{"", "another table"} {
					if before != "" {
						putObject(t, bucket, line.Name, before)
					}
					if err := cloud.SendFile(t.Context(), bucket, path, line); err != nil {
						t.Fatal(err)
					}
					if got, err := bucket.ReadAll(t.Context(), line.Name); err != nil || string(got) != string(contents) {
						t.Errorf("%d bytes, %v, want the %d of the file", len(got), err, len(contents))
					}
				}
			})
		}
	}
}

// A file of other bytes than the line says is not sent, and the object stays.
func TestSendFileRefuses(t *testing.T) {
	contents, line := wantTable(t, nil, workload.W3(1000).Keys, "v")
	path := writeFile(t, string(contents))
	changed := append([]byte{}, contents...)
	changed[len(changed)/2] ^= 1
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			bucket := s.bucket(t)
			putObject(t, bucket, line.Name, "before")
			for _, tt := range []struct {
				name, path, text string
				chain            error
			}{
				{"cut short", writeFile(t, string(contents[:100])), "it has 100 bytes, want ", set.ErrMismatch},
				{"one bit", writeFile(t, string(changed)), "its SHA-256 is not " + line.SHA256, set.ErrMismatch},
				{"no file", path + ".none", "cloud: send a table: ", fs.ErrNotExist},
			} {
				checkError(t, cloud.SendFile(t.Context(), bucket, tt.path, line), tt.chain, tt.text, tt.path)
			}
			if diff := cmp.Diff(map[string]int64{line.Name: 6}, objects(t, bucket)); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

// writeFile writes a temporary file, and returns its path.
func writeFile(t *testing.T, contents string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.ldb")
	if err := os.WriteFile(path, []byte(contents), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
