package set_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/sievetable/sievetable/table/set"
)

// Lookups see the layers of one manifest, whatever Swaps run: a key that each layer gives a greater value, and
// that layers between remove, is never absent where its manifest has it, and its value never goes back.
func TestLayersWhileSwapped(t *testing.T) {
	t.Parallel()
	src := newStore()
	manifests := []*set.Manifest{{Tables: []set.Table{src.put(t, "base", filtered, [][2]string{{"k", "0"}})}}}
	for i := 1; i <= 20; i++ {
		last := manifests[len(manifests)-1]
		layers := append([]set.Layer(nil), last.Layers...)
		if len(layers) == 5 { // the oldest one is folded
			layers = layers[1:]
		}
		removed := set.Layer{Removals: []set.Table{src.put(t, fmt.Sprint("removed", i), filtered, [][2]string{{"k", ""}})}}
		added := set.Layer{Tables: []set.Table{src.put(t, fmt.Sprint("added", i), filtered, [][2]string{{"k", strconv.Itoa(i)}})}}
		manifests = append(manifests, &set.Manifest{Tables: last.Tables, Layers: append(layers, removed, added)})
	}
	s := open(t, manifests[0], src, &set.Options{MemorySize: 500})
	done := make(chan struct{})
	var asking sync.WaitGroup
	for range 3 {
		asking.Go(func() {
			for least := 0; ; {
				value, err := s.Get(background, []byte("k"))
				got, _ := strconv.Atoi(string(value))
				if err != nil || got < least {
					t.Errorf("Get = %q, %v; want ≥ %d", value, err, least)
					return
				}
				least = got
				if may, err := s.MayContain(background, []byte("k")); !may || err != nil {
					t.Errorf("MayContain = %v, %v", may, err)
				}
				found, err := getMany(background, s, bytesOf("k"), nil)
				if got, _ := strconv.Atoi(found["k"]); err != nil || len(found) != 1 || got < least {
					t.Errorf("GetMany = %v, %v; want ≥ %d", found, err, least)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for _, m := range manifests {
		if err := s.Swap(background, m); err != nil {
			t.Error(err)
		}
	}
	close(done)
	asking.Wait()
}
