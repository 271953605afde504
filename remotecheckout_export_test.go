package quarry

import "time"

// RestStamps sets how old a change in a checkout must be for a stamp to be
// trusted.
func RestStamps(ws *Workspace, d time.Duration) {
	ws.b.(interface{ TrustStampsAfter(time.Duration) }).TrustStampsAfter(d)
}
