package codecs

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
)

// othersBlocks are a block compressed by other libraries: zstd 1.5.4 as C++ LevelDB calls it, with the content size
// and without a checksum, and zlib 1.2.13 at level 6.
var othersBlocks = map[string]struct {
	codec  table.Codec
	stored string // hexadecimal
}{
	"zstd": {Zstd, "28b52ffd600000fd0100c4026b65793030303a20612076616c7565207468617420636f6d657320616761696e" +
		"6b65793030313233343536370700c016d01c6818680434071ae6d12832"},
	"zlib": {Zlib, "789ccb4ead343030b0524854284bcc294d5528c9482c5148cecf4d2d56484c4fcccccb06c91b12903722206f" +
		"4c40de8480bc2901793302f2e6b8e501d7e957e5"},
	"deflate": {Deflate, "cb4ead343030b0524854284bcc294d5528c9482c5148cecf4d2d56484c4fcccccb06c91b12903722206f" +
		"4c40de8480bc2901793302f2e6b8e501"},
}

// Other libraries' blocks can be decoded by their codec and by All.
func TestOthersBlocks(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	for i := range 8 {
		fmt.Fprintf(&want, "key%03d: a value that comes again", i)
	}
	for name, tt := range othersBlocks {
		t.Run(name, func(t *testing.T) {
			stored, err := hex.DecodeString(tt.stored)
			noError(t, err)
			if got := IsZstd(stored[:4]); got != (name == "zstd") {
				t.Errorf("IsZstd: %v", got)
			}
			for _, c := range append(All(), tt.codec) {
				if c.ID() != tt.codec.ID() {
					continue
				}
				got, err := c.Decode(nil, stored, want.Len())
				if diff := cmp.Diff(want.String(), string(got)); err != nil || diff != "" {
					t.Errorf("%T: %v (-want +got):\n%s", c, err, diff)
				}
			}
		})
	}
}
