package set

import "testing"

// What has ended has no users any more, however many try.
func TestUsers(t *testing.T) {
	t.Parallel()
	var u users
	for range 3 {
		if !u.acquire() {
			t.Fatal("a new thing has ended")
		}
	}
	if u.release() || u.release() || !u.release() {
		t.Error("the thing does not end with its last user")
	}
	for range 3 {
		if u.acquire() {
			t.Error("the thing has a user after its end")
		}
	}
}
