package quarry

import "time"

// RestStamps sets how old a change in a checkout must be for a stamp to be
// trusted.
func RestStamps(ws *Workspace, d time.Duration) {
	for _, c := range ws.elsewhere.checkouts {
		c.rest = d
	}
}
