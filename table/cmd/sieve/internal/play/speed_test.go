package play

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// speedKeys are the keys that the page measures with.
func speedKeys(from, n int) (keys [][]byte) {
	for i := range n {
		keys = append(keys, fmt.Appendf(nil, "user%07d", from+i))
	}
	return keys
}

// speeds presses the button, and returns the page's text after the measurement.
func speeds(page *pagetest.Tab) string {
	page.Helper()
	pagetest.Evaluate[any](page, `document.querySelector("#speed button").click()`)
	said := pagetest.When[string](page, `document.getElementById("speeds").ariaBusy !== "true"`, `document.getElementById("speeds").innerText`)
	return strings.Join(strings.Fields(said), " ")
}

// The measured filter is LevelDB's: it has as many false positives as the library's. Speed and time of each kind
// of operation are > 0 and agree.
func TestSpeed(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 1000, "")
	for _, tt := range []struct{ bits, k, keys int }{{10, 6, 2000}, {4, 2, 1}, {40, 27, 300}} {
		page.Follow(fmt.Sprintf("n=20&bits=%d", tt.bits))
		page.Submit("#speed-keys", strconv.Itoa(tt.keys))
		got := speeds(page)
		f, passed := generate(tt.bits, speedKeys(1, tt.keys)), 0
		for _, key := range speedKeys(tt.keys+1, tt.keys) {
			if filter.NewBloom(0).Contains(f, key) {
				passed++
			}
		}
		keys, bytes := strings.ReplaceAll(strconv.Itoa(tt.keys), "2000", "2,000"), strings.ReplaceAll(strconv.Itoa(len(f)-1), "2500", "2,500")
		bytes = strings.ReplaceAll(bytes, "1500", "1,500")
		for _, want := range []string{fmt.Sprintf("With %s key", keys), fmt.Sprintf(" in %s bytes, k = %d ", bytes, tt.k), fmt.Sprintf(", %d passed (", passed)} {
			if !strings.Contains(got, want) {
				t.Errorf("%+v: the page says %q, want %q", tt, got, want)
			}
		}
		checkSpeeds(t, got)
	}
}

func checkSpeeds(t *testing.T, said string) {
	t.Helper()
	for _, what := range []string{"Add a key", "Look up an added key", "Look up another key"} {
		cells := regexp.MustCompile(what + ` ([0-9,]+) ([0-9.,]+) ns`).FindStringSubmatch(said)
		if cells == nil {
			t.Errorf("the page says %q, want a speed after %q", said, what)
			continue
		}
		perSecond, err1 := strconv.ParseFloat(strings.ReplaceAll(cells[1], ",", ""), 64)
		each, err2 := strconv.ParseFloat(strings.ReplaceAll(cells[2], ",", ""), 64)
		if product := perSecond * each / 1e9; err1 != nil || err2 != nil || product < 0.98 || product > 1.02 {
			t.Errorf("%s: %s per second of %s ns each", what, cells[1], cells[2])
		}
	}
}

// The number of keys is bounded, since all of them are in memory.
func TestSpeedBounds(t *testing.T) {
	t.Parallel()
	page := openPlay(t, 390, "")
	for _, text := range []string{"0", "200001", "", "1.5"} {
		page.Submit("#speed-keys", text)
		const want = "The number of keys must be a whole number from 1 to 200000."
		if got := page.Text("#speed-problem"); got != want {
			t.Errorf("for %q the page says %q, want %q", text, got, want)
		}
		if got := page.Text("#speeds"); got != "" {
			t.Errorf("for %q the page measures: %q", text, got)
		}
	}
	page.Submit("#speed-keys", "100")
	if got := speeds(page); page.Text("#speed-problem") != "" || !strings.HasPrefix(got, "With 100 keys") {
		t.Errorf("with 100 keys the page says %q, %q", page.Text("#speed-problem"), got)
	}
	page.CheckWidth("speeds")
}
