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
	if acquired, alone := u.tryAcquire(); !acquired || !alone {
		t.Fatalf("tryAcquire = %t, %t without others", acquired, alone)
	}
	u.release()
	for left := 2; left >= 0; left-- {
		if ended := u.release(); ended != (left == 0) {
			t.Errorf("with %d users left: ended %t", left, ended)
		}
	}
	for range 3 {
		if u.acquire() {
			t.Error("the thing has a user after its end")
		}
		if acquired, alone := u.tryAcquire(); acquired || !alone {
			t.Errorf("tryAcquire = %t, %t after the end", acquired, alone)
		}
	}
}
