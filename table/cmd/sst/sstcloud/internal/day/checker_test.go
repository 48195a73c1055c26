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

// A checker sends lookups to the service, and checks the answers.
type checker struct {
	t       *testing.T
	n       int // number of keys
	client  *http.Client
	service *service
	model   *model
	faults  *faults

	wrong   atomic.Int64
	answers [600]atomic.Int64 // number by HTTP status; 0: no answer
}

// get sends a GET request, and returns the status and the body of the answer.
func (c *checker) get(path string) (int, string, error) {
	return body(c.client.Get(*c.service.base.Load() + path))
}

// post is like get, with the method POST.
func (c *checker) post(path string) (int, string, error) {
	return body(c.client.Post(*c.service.base.Load()+path, "", nil))
}

// body returns the status and the body of an answer.
func body(r *http.Response, err error) (int, string, error) {
	if err != nil {
		return 0, "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	return r.StatusCode, string(text), err
}

// headerTime is the time that the service waits for a request. A request that stalls for longer has no answer.
const headerTime = 10 * time.Second

// lookUp looks up key number i, and checks the answer.
func (c *checker) lookUp(i int) {
	low, step, restarts, began := c.model.inUse(), c.faults.step(), c.service.restarts.Load(), time.Now()
	status, _, err := c.get("/lookup?key=" + url.QueryEscape(key(i)))
	versions := c.model.since(low)
	c.answers[status].Add(1)
	switch {
	case err != nil:
		late := time.Since(began) > headerTime
		time.Sleep(10 * time.Millisecond) // until the service is running again
		if !late && restarts%2 == 0 && restarts == c.service.restarts.Load() {
			c.fail("key %d: %v, and the service was not started again", i, err)
		}
	case status == http.StatusOK || status == http.StatusNotFound:
		for _, v := range versions {
			if v.present[i] == (status == http.StatusOK) {
				return
			}
		}
		c.fail("key %d: status %d, which is wrong in versions %d to %d", i, status, low, low+len(versions)-1)
	case status == http.StatusServiceUnavailable:
		for _, v := range versions {
			if c.faults.wereIn(step, v.tablesOf(key(i))) {
				return
			}
		}
		c.fail("key %d: status %d in step %d, and none of its tables had a fault", i, status, step)
	default:
		c.fail("key %d: status %d", i, status)
	}
}

// fail counts a wrong answer, and reports the first ones.
func (c *checker) fail(format string, args ...any) {
	if c.wrong.Add(1) <= 10 {
		c.t.Errorf(format, args...)
	}
}

// health returns an error unless the service reports that all its tables work.
func (c *checker) health() (string, error) { return wantOK(c.get("/health")) }

// reload makes the service load the manifest from the store.
func (c *checker) reload() (string, error) { return wantOK(c.post("/reload")) }

// wantOK returns the body of an answer, or an error if the status is not 200.
func wantOK(status int, text string, err error) (string, error) {
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	return text, err
}
