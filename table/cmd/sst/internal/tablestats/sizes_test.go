package tablestats

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHistogram(t *testing.T) {
	t.Parallel()
	largest, largestJSON := "1-2 GiB: 50.0 %, 2-4 GiB: 50.0 %",
		`[{"from":1073741824,"to":2147483647,"entries":1},{"from":2147483648,"to":4294967295,"entries":1}]`
	if math.MaxInt == math.MaxInt32 { // less than 2 GiB
		largest, largestJSON = "1-2 GiB: 100 %", `[{"from":1073741824,"to":2147483647,"entries":2}]`
	}
	for _, tt := range []struct {
		name       string
		sizes      []int
		text, json string
	}{
		{"none", nil, "", "[]"},
		{"one", []int{5}, "4-7 B: 100 %", `[{"from":4,"to":7,"entries":1}]`},
		{"smallest", []int{0, 1, 1, 2, 3, 4}, "0 B: 16.7 %, 1 B: 33.3 %, 2-3 B: 33.3 %, 4-7 B: 16.7 %",
			`[{"from":0,"to":0,"entries":1},{"from":1,"to":1,"entries":2},{"from":2,"to":3,"entries":2},{"from":4,"to":7,"entries":1}]`},
		{"units", []int{1023, 1024, 2047, 2048, 1<<20 - 1, 1 << 20}, "512-1023 B: 16.7 %, 1-2 KiB: 33.3 %, 2-4 KiB: 16.7 %, 512-1024 KiB: 16.7 %, 1-2 MiB: 16.7 %",
			`[{"from":512,"to":1023,"entries":1},{"from":1024,"to":2047,"entries":2},{"from":2048,"to":4095,"entries":1},{"from":524288,"to":1048575,"entries":1},{"from":1048576,"to":2097151,"entries":1}]`},
		{"largest", []int{1 << 30, math.MaxInt}, largest, largestJSON},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h Histogram
			for _, size := range tt.sizes {
				h.Add(size)
			}
			encoded, err := json.Marshal(h)
			noError(t, err)
			if diff := cmp.Diff([]string{tt.text, tt.json}, []string{h.String(), string(encoded)}); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Rare sizes are not shown as 0 %, and an incomplete part is not shown as 100 %.
func TestRareSizes(t *testing.T) {
	t.Parallel()
	h := Histogram{1, 9999}
	h.Join(&Histogram{0, 9999})
	if got, want := h.String(), "0 B: < 0.1 %, 1 B: > 99.9 %"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
