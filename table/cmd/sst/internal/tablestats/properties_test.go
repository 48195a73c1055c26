package tablestats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Numeric RocksDB properties are shown as numbers, unless their values have another type.
func TestOtherProperty(t *testing.T) {
	t.Parallel()
	const indexType = "rocksdb.block.based.table.index.type"
	for _, tt := range []struct {
		name, value string
		want        Property
	}{
		{indexType, "\x00\x00\x00\x00", Property{"index_type", "binary search"}},
		{indexType, "\x02\x00\x00\x00", Property{"index_type", "two levels"}},
		{indexType, "\x04\x00\x00\x00", Property{indexType, `\x04\x00\x00\x00`}},
		{indexType, "", Property{indexType, ""}},
		{"rocksdb.creation.time", "\x80\x01", Property{"rocksdb.creation.time", uint64(128)}},
		{"rocksdb.creation.time", "\x80", Property{"rocksdb.creation.time", `\x80`}},
		{"rocksdb.creation.time", "\x01\x01", Property{"rocksdb.creation.time", `\x01\x01`}},
		{"of a user\n", "\x01", Property{`of a user\n`, `\x01`}},
	} {
		if diff := cmp.Diff(tt.want, otherProperty(tt.name, []byte(tt.value))); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", tt.name, tt.value, diff)
		}
	}
}
