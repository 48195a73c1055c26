package cloud_test

import (
	"context"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/set"
)

// A pausedStore waits before it replaces a manifest.
type pausedStore struct {
	*cloud.Store
	reached, resumed chan bool
}

func (s *pausedStore) Replace(ctx context.Context, name string, old, content []byte) error {
	close(s.reached)
	<-s.resumed
	return s.Store.Replace(ctx, name, old, content)
}

// A Sweep that has begun before a build does not see its lease, and may remove a table that the build has found. The
// build then uploads it again.
func TestSweepRemovesTableOfABuild(t *testing.T) {
	emptyTemp(t)
	_, bucket := newProxy(t)
	urls := workload.W3(1000)
	for _, value := range []string{"one", "two"} {
		_, err := build(t.Context(), newStore(bucket), urls.Keys, value)
		noError(t, err)
	}
	s := &pausedStore{newStore(bucket), make(chan bool), make(chan bool)}
	built, reads, removed := make(chan error), 0, 0
	o := &set.SweepOptions{AnyAge: true}
	o.Keep = func(context.Context) ([]*set.Manifest, error) {
		if reads++; reads == 2 { // right before the removals
			go func() {
				_, err := build(t.Context(), s, urls.Keys, "one")
				built <- err
			}()
			<-s.reached
		}
		return nil, nil
	}
	o.Found = func(set.File, bool) error {
		if removed++; removed == 4 {
			close(s.resumed)
			noError(t, <-built)
		}
		return nil
	}
	noError(t, set.Sweep(t.Context(), newStore(bucket), o))
	checkLookups(t, openSet(t, bucket, newStore(bucket), eager), urls, "one")
}
