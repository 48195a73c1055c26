package day

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"
)

// askers ask the service, and check what it answers.
type askers struct {
	t       *testing.T
	n       int // keys
	client  *http.Client
	service *service
	model   *model
	faults  *faults

	wrong   atomic.Int64
	answers [600]atomic.Int64 // by their status, and at 0 none
}

// get sends a request, and returns the status and the text of the answer.
func (a *askers) get(path string) (int, string, error) {
	return body(a.client.Get(*a.service.base.Load() + path))
}

// post is get by the method POST.
func (a *askers) post(path string) (int, string, error) {
	return body(a.client.Post(*a.service.base.Load()+path, "", nil))
}

// body returns the status and the text of an answer.
func body(r *http.Response, err error) (int, string, error) {
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, string(text), err
}

// headerTime is how long the service waits for what it is asked. A request that stalls for longer has no answer.
const headerTime = 10 * time.Second

// ask asks for the key of number i, and checks the answer.
func (a *askers) ask(i int) {
	low, step, restarts, began := a.model.inUse(), a.faults.step(), a.service.restarts.Load(), time.Now()
	status, _, err := a.get("/lookup?key=" + url.QueryEscape(key(i)))
	versions := a.model.since(low)
	a.answers[status].Add(1)
	switch {
	case err != nil:
		late := time.Since(began) > headerTime
		time.Sleep(10 * time.Millisecond) // until it is there again
		if !late && restarts%2 == 0 && restarts == a.service.restarts.Load() {
			a.fail("key %d: %v, and the service was not started again", i, err)
		}
	case status == http.StatusOK || status == http.StatusNotFound:
		for _, v := range versions {
			if v.present[i] == (status == http.StatusOK) {
				return
			}
		}
		a.fail("key %d: status %d, which is wrong in versions %d to %d", i, status, low, low+len(versions)-1)
	case status == http.StatusServiceUnavailable:
		for _, v := range versions {
			if a.faults.wereIn(step, v.tablesOf(key(i))) {
				return
			}
		}
		a.fail("key %d: status %d in step %d, and none of its tables had a fault", i, status, step)
	default:
		a.fail("key %d: status %d", i, status)
	}
}

// fail notes a wrong answer, and prints the first ones.
func (a *askers) fail(format string, args ...any) {
	if a.wrong.Add(1) <= 10 {
		a.t.Errorf(format, args...)
	}
}

// sure returns an error unless the service says that all of its tables have answers.
func (a *askers) sure() (string, error) { return wantOK(a.get("/health")) }

// reload lets the service take up the manifest of the store.
func (a *askers) reload() (string, error) { return wantOK(a.post("/reload")) }

// wantOK returns the text of an answer, and an error for any other status than 200.
func wantOK(status int, text string, err error) (string, error) {
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	return text, err
}
