package play

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
)

// randomKeys returns n distinct keys of random bytes and lengths.
func randomKeys(rng *rand.Rand, n, most int) (keys [][]byte) {
	seen := map[string]bool{}
	for i := 0; len(keys) < n; i++ {
		key := make([]byte, min(i, rng.IntN(most+1)))
		for j := range key {
			key[j] = byte(rng.Uint32())
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			keys = append(keys, key)
		}
	}
	return keys
}

// oddKeys returns keys of lengths from 0 to 9, with and without bytes ≥ 0x80, and text with multibyte characters.
func oddKeys() (keys [][]byte) {
	for n := range 10 {
		keys = append(keys, []byte("abcdefghi")[:n], bytes.Repeat([]byte{0xff}, n+1), append(bytes.Repeat([]byte{'x'}, n), 0x80))
	}
	for _, s := range []string{"é", "日本語", "😀", "a\x00b", "\x00", `\`, `"`, " ", "<b>", "\u202e", "a&key=b#", "+%20"} {
		keys = append(keys, []byte(s))
	}
	return keys
}

// absent returns the number of absent keys to look up.
func absent() int { return long.Rounds(50, 500) }

// The page's filter equals the library's, byte for byte, and gives the same results.
func TestBitsAreLevelDBs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	page := openPlay(t, 1000, "")
	for _, tt := range []struct {
		name string
		bits int
		keys [][]byte
	}{
		{"minimum of 64 bits", 10, [][]byte{[]byte("ada")}},
		{"the empty key", 1, [][]byte{{}}},
		{"odd keys, 1 bit", 1, oddKeys()},
		{"odd keys, 10 bits", 10, oddKeys()},
		{"odd keys, 40 bits", 40, oddKeys()},
		{"long keys", 16, randomKeys(rng, 60, 64)},
	} {
		page.Follow(fmt.Sprintf("n=%d&bits=%d", len(tt.keys), tt.bits))
		add(page, tt.keys)
		want := generate(tt.bits, tt.keys)
		if got := filterOf(page); !bytes.Equal(got, want) {
			t.Errorf("%s: the page's filter is %x, want %x", tt.name, got, want)
		}
		checkAnswers(t, page, want, tt.keys, append(randomKeys(rng, absent(), 12), tt.keys[:min(15, len(tt.keys))]...))
	}
}

// A link restores the same filter.
func TestBitsOfLinks(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 1000, "")
	for _, bits := range []int{4, 13} {
		keys := append(randomKeys(rand.New(rand.NewPCG(3, 3)), 450, 30), oddKeys()...)
		keys = keys[:min(500, len(keys))]
		page.Follow(stateOf(fmt.Sprintf("n=%d&bits=%d", len(keys), bits), keys))
		if got, want := filterOf(page), generate(bits, keys); !bytes.Equal(got, want) {
			t.Errorf("%d bits per key: the page's filter is %x, want %x", bits, got, want)
		}
	}
}

// filterOf returns the bytes of the filter that the page shows.
func filterOf(page *pagetest.Tab) []byte {
	page.Helper()
	f, err := hex.DecodeString(pagetest.Evaluate[string](page, `document.getElementById("bytes").textContent`))
	page.Must(err)
	return f
}

// checkAnswers looks keys up in the page and in the library.
func checkAnswers(t *testing.T, page *pagetest.Tab, f []byte, added, asked [][]byte) {
	t.Helper()
	answers := pagetest.Call[[]string](page, lookUpAll, escapedAll(asked))
	for i, key := range asked {
		want, passes := "✗ Certainly absent", filter.NewBloom(0).Contains(f, key)
		if passes {
			want = "◆ May be present"
		}
		falsePositive := passes && !slices.ContainsFunc(added, func(k []byte) bool { return bytes.Equal(k, key) })
		if got := answers[i]; !strings.HasPrefix(got, want) || strings.Contains(got, "a false positive") != falsePositive {
			t.Fatalf("for %q the page says %q, want %s, a false positive: %v", key, got, want, falsePositive)
		}
		if _, probe, ok := strings.Cut(answers[i], "”Probe "); ok {
			checkClear(t, f, strings.ReplaceAll(probe, ",", ""))
		}
	}
}

// checkClear checks the page's text about the probe that found a clear bit.
func checkClear(t *testing.T, f []byte, said string) {
	t.Helper()
	var probe, k, bit int
	if _, err := fmt.Sscanf(said, "%d of %d found bit %d clear.", &probe, &k, &bit); err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	if probe > k || k != int(f[len(f)-1]) || f[bit/8]>>(bit%8)&1 != 0 {
		t.Errorf("the page says %q of the filter %x", said, f)
	}
}

// bitsOf returns the bits that a key sets in a filter for n keys. It builds a filter of n copies of the key.
func bitsOf(key []byte, n, bitsPerKey int) (bits []string) {
	f := generate(bitsPerKey, slices.Repeat([][]byte{key}, n))
	for i := range 8 * (len(f) - 1) {
		if f[i/8]>>(i%8)&1 == 1 {
			bits = append(bits, fmt.Sprint(i))
		}
	}
	return bits
}

// The page shows the bits that a key sets.
func TestBitsOfKeys(t *testing.T) {
	t.Parallel()
	keys := oddKeys()
	page := openPlay(t, 1000, stateOf(fmt.Sprintf("n=%d&bits=10", len(keys)), keys))
	shown := pagetest.Evaluate[[]string](page, `[...document.getElementById("keys").children].map((key) => {
		key.click();
		return document.querySelector("#key-info dd").textContent.replaceAll(/[(][^)]*[)]|,/g, "");
	})`)
	if len(shown) != len(keys) {
		t.Fatalf("%d keys, want %d", len(shown), len(keys))
	}
	for i, key := range keys {
		got, want := strings.Fields(shown[i]), bitsOf(key, len(keys), 10)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("bits of %q (-want +got):\n%s", key, diff)
		}
	}
}

// With a k that LevelDB would not choose, the filter has that k, and rules out no added key.
func TestOtherK(t *testing.T) {
	t.Parallel()
	keys, page := oddKeys(), openPlay(t, 1000, "")
	for _, k := range []int{1, 2, 13, 30} {
		page.Follow(stateOf(fmt.Sprintf("n=40&bits=8&k=%d", k), keys))
		f := filterOf(page)
		if f[len(f)-1] != byte(k) || len(f) != 41 {
			t.Errorf("the filter has %d bytes and k = %d, want 41 and %d", len(f), f[len(f)-1], k)
		}
		filtertest.CheckContains(t, func(key []byte) bool { return filter.NewBloom(0).Contains(f, key) }, keys)
		checkAnswers(t, page, f, keys, append(randomKeys(rand.New(rand.NewPCG(2, uint64(k))), absent(), 12), keys[:15]...))
	}
}

// The button finds a false positive, and names keys that set each of its bits.
func TestFindFalsePositive(t *testing.T) {
	t.Parallel()
	const n = 30
	page := openPlay(t, 1000, "n=30&rate=5&examples=numbers&key=")
	if got := page.Text("#keys"); got != "(empty key)" {
		t.Fatalf("the keys are %q", got)
	}
	pagetest.Evaluate[any](page, `document.getElementById("clear").click()`)
	pagetest.Evaluate[any](page, `document.getElementById("find").click()`)
	if got, want := page.Text("#ask-problem"), "No bit is set, so no key passes. Add keys first."; got != want {
		t.Errorf("without keys: %q, want %q", got, want)
	}
	pagetest.Evaluate[any](page, `for (let i = 0; i < 3; i++) document.querySelector("[data-add='10']").click()`)
	added := users(n)
	f := generate(7, added)
	for range 5 {
		pagetest.Evaluate[any](page, `document.getElementById("find").click()`)
		found := pagetest.Evaluate[string](page, `document.getElementById("key").value`)
		if !filter.NewBloom(0).Contains(f, []byte(found)) || slices.Contains(escapedAll(added), found) {
			t.Errorf("%q is not a false positive", found)
		}
		checkAnswers(t, page, f, added, [][]byte{[]byte(found)})
		checkSetters(t, page, []byte(found), n, 7)
	}
	for range 3 { // keys that were found and then added
		pagetest.Evaluate[any](page, `document.getElementById("find").click()`)
		if got := page.Text("#answer"); !strings.Contains(got, "a false positive") {
			t.Errorf("the page finds %q", got)
		}
		found := pagetest.Evaluate[string](page, `document.getElementById("key").value`)
		add(page, [][]byte{[]byte(found)})
	}
}

// checkSetters checks the list of probes: all bits of the key, and keys that set them.
func checkSetters(t *testing.T, page *pagetest.Tab, key []byte, n, bitsPerKey int) {
	t.Helper()
	var bits []string
	for _, line := range pagetest.Evaluate[[]string](page, `[...document.querySelectorAll("#way li")].map((li) => li.textContent)`) {
		words := strings.Fields(line)
		bits = append(bits, words[1])
		setter := strings.Split(line, "“")[1]
		setter, _, _ = strings.Cut(setter, "”")
		if !slices.Contains(bitsOf([]byte(setter), n, bitsPerKey), words[1]) {
			t.Errorf("%q: %q does not set the bit", line, setter)
		}
	}
	want := bitsOf(key, n, bitsPerKey)
	slices.Sort(want)
	slices.Sort(bits)
	if diff := cmp.Diff(want, slices.Compact(bits)); diff != "" {
		t.Errorf("probed bits of %s (-want +got):\n%s", printable.Escape(key), diff)
	}
}
