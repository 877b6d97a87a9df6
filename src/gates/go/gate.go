// Package gate is the decision of a gate in Go, with the standard library alone. Decide and Settle are pure: the record
// of the gate, the published keys, the ended grants, the clock and the request go in, a decision comes out. Reading
// those, calling Usher and writing the answer is the adapter's. The kinds of decisions: "pass" (to the site), "ask" (call the
// queue's pass, then Settle), "return" and "room" (303 to the location), "wait" (429), "closed" (503).
package gate

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
)

// Record is the answer of GET /gates/{gateId}, as far as the decision needs it.
type Record struct {
	// Another one as soon as a setting has changed.
	Version        string
	OrganizationID string `json:"organizationId"`
	Mode           string `json:"mode"`
	Hosts          []string
	Rules          []Rule
	FailMode       string
	Cookie         struct{ Name, Domain, Path string }
	ReturnPath     string
	Queues         map[string]struct {
		ExperienceID string `json:"experienceId"`
		// "scheduled", "open" or "ended"; an Usher of an earlier version does not say.
		State   string
		Engaged bool
		RoomURL string `json:"roomUrl"`
		// The decision does not need it: after this time a grant that was not renewed ends.
		AdmissionRenewal *struct{ IdleSeconds float64 }
	}
}

// Rule has conditions that must all hold. Then is "pass" or an object with a queueId.
type Rule struct {
	When struct {
		Path       *string
		PathPrefix string
		Methods    []string
		Header     *struct {
			Name  string
			Value *string
		}
		Cookie  string
		Crawler string
	}
	Then     json.RawMessage
	FailMode string
	AfterEnd string
}

// KeySet is the answer of the record's keysUrl.
type KeySet struct{ Keys []struct{ Crv, X string } }

// Request has headers by names in lower case. Form is the body of a form, at most 16,384 bytes of it. Crawler is what
// the runtime has verified.
type Request struct {
	Method, Target, Form, Crawler string
	Headers                       map[string]string
}

// Knowledge is what a gate knows when a request arrives. Now is in milliseconds since the Unix epoch. NewState is a random
// text, new for each request, that names a browser which is sent to the room.
type Knowledge struct {
	Gate      Record
	Keys      KeySet
	Ended     map[string]bool
	Reachable bool
	Now       int64
	NewState  string
}

// Decision has the fields of its kind.
type Decision struct {
	Kind              string   `json:"kind"`
	JTI               string   `json:"jti,omitempty"`
	Cookie            string   `json:"cookie,omitempty"`
	Cookies           []string `json:"cookies,omitempty"`
	QueueID           string   `json:"queueId,omitempty"`
	Location          string   `json:"location,omitempty"`
	RoomURL           string   `json:"roomUrl,omitempty"`
	RetryAfterSeconds int      `json:"retryAfterSeconds,omitempty"`
	Because           string   `json:"because,omitempty"`
}

// Answer is what pass of a queue answered. Its status is ROOM if Usher does not take the visitor from a gate now, ENDED if
// the queue has ended, REFUSED if there is no such queue, FAILED if there was no answer.
type Answer struct{ Status, AdmissionGrant, RoomURL string }

type claims struct {
	Type, Iss, Aud, Mode, JTI string
	OrganizationID            string   `json:"organizationId"`
	ExperienceID              string   `json:"experienceId"`
	Exp                       *float64 `json:"exp"`
}

const (
	tokenLengthMax = 4096
	cookiesMax     = 4
	pageLengthMax  = 2000
	// For which a browser that was sent to the room may return.
	stateSeconds = 86_400
)

var (
	tokenPattern  = regexp.MustCompile(`^([\w-]+\.([\w-]+))\.([\w-]+)$`)
	hostPattern   = regexp.MustCompile(`^([a-z0-9.-]+?)\.?(:[0-9]{1,5})?$`)
	localPattern  = regexp.MustCompile(`^(localhost|127\.0\.0\.1)(:|$)`)
	pagePattern   = regexp.MustCompile(`^/([!-.0-\[\]-~][!-\[\]-~]*)?$`)
	originPattern = regexp.MustCompile(`(?i)^https?://[^/?#]*`)
	statePattern  = regexp.MustCompile(`^[\w-]{20,64}$`)
	escapePattern = regexp.MustCompile(`(?i)%[0-9a-f]{2}`)
)

var closed = Decision{Kind: "closed", RetryAfterSeconds: 5}

// Decide says what to do with a request. After "ask" call pass of the queue, then Settle.
func (k Knowledge) Decide(r Request) Decision {
	if pathOf(r.Target) == k.Gate.ReturnPath {
		return k.returned(r)
	}
	rule := k.ruleFor(r)
	if rule == nil || rule.queueID() == "" {
		return Decision{Kind: "pass"}
	}
	queue, exists := k.Gate.Queues[rule.queueID()]
	if !exists {
		return k.failed(rule)
	}
	for i, token := range cookiesIn(r, k.cookieName(r, queue.ExperienceID)) {
		if i == cookiesMax {
			break
		}
		if c := k.grantIn(token); c != nil && c.ExperienceID == queue.ExperienceID {
			return Decision{Kind: "pass", JTI: c.JTI}
		}
	}
	switch {
	case queue.State == "ended":
		return ended(rule)
	case !k.Reachable && queue.State == "scheduled":
		return closed
	case !k.Reachable:
		return k.failed(rule)
	}
	if queue.Engaged {
		return k.sentAway(r, queue.RoomURL)
	}
	return Decision{Kind: "ask", QueueID: rule.queueID()}
}

// Settle says what follows from the answer of pass.
func (k Knowledge) Settle(r Request, a Answer) Decision {
	switch a.Status {
	case "QUEUED":
		return k.sentAway(r, a.RoomURL)
	case "REFUSED":
		return closed
	case "ENDED":
		return ended(k.ruleFor(r))
	case "ROOM":
		if rule := k.ruleFor(r); rule != nil {
			if queue, exists := k.Gate.Queues[rule.queueID()]; exists {
				return k.sentAway(r, queue.RoomURL)
			}
		}
	case "GRANTED":
		if c := k.grantIn(a.AdmissionGrant); c != nil {
			return Decision{Kind: "pass", JTI: c.JTI, Cookie: k.cookieOf(r, a.AdmissionGrant, c)}
		}
	}
	return k.failed(k.ruleFor(r))
}

// A grant counts only from the browser that was sent away, and once: another one may have been led here with a grant of
// its own, and a request may be repeated. One that does not count leads on too: the page's own rule decides.
func (k Knowledge) returned(r Request) Decision {
	_, query, _ := strings.Cut(r.Target, "?")
	d := Decision{Kind: "return", Location: pageIn(fieldIn(query, "to"))}
	isForm := strings.HasPrefix(strings.ToLower(r.Headers["content-type"]), "application/x-www-form-urlencoded")
	if r.Method == "POST" && isForm && contains(k.statesIn(r), fieldIn(query, "state")) {
		token := fieldIn(r.Form, "usher_grant")
		if c := k.grantIn(token); c != nil {
			d.Cookies = []string{k.cookieOf(r, token, c), k.stateCookie(r, "", 0)}
		}
	}
	return d
}

// The claims of a grant that opens one of the gate's queues.
func (k Knowledge) grantIn(token string) *claims {
	parts := tokenPattern.FindStringSubmatch(token)
	if len(token) > tokenLengthMax || parts == nil || !k.isSigned(parts[1], bytesOf(parts[3])) {
		return nil
	}
	var c claims
	if json.Unmarshal(bytesOf(parts[2]), &c) != nil {
		return nil
	}
	mode := k.Gate.Mode
	if mode == "" {
		mode = "live"
	}
	isGrant := c.Type == "admission" && c.Iss == "usher" && c.Aud == "usher:admission"
	isOver := c.Exp != nil && *c.Exp*1000 <= float64(k.Now)
	if !isGrant || c.OrganizationID != k.Gate.OrganizationID || c.Mode != mode || isOver || k.Ended[c.JTI] {
		return nil
	}
	for _, queue := range k.Gate.Queues {
		if queue.ExperienceID == c.ExperienceID {
			return &c
		}
	}
	return nil
}

func (k Knowledge) isSigned(signed string, signature []byte) bool {
	for _, key := range k.Keys.Keys {
		x := bytesOf(key.X)
		isKey := key.Crv == "Ed25519" && len(x) == ed25519.PublicKeySize
		if isKey && ed25519.Verify(x, []byte(signed), signature) {
			return true
		}
	}
	return false
}

func (k Knowledge) failed(rule *Rule) Decision {
	mode := k.Gate.FailMode
	if rule != nil && rule.FailMode != "" {
		mode = rule.FailMode
	}
	if mode == "open" {
		return Decision{Kind: "pass"}
	}
	return closed
}

// What a queue protected stays closed after its end, whatever the fail mode says.
func ended(rule *Rule) Decision {
	if rule != nil && rule.AfterEnd == "pass" {
		return Decision{Kind: "pass"}
	}
	return Decision{Kind: "closed", RetryAfterSeconds: 60, Because: "ended"}
}

func (k Knowledge) sentAway(r Request, roomURL string) Decision {
	if !isNavigation(r.Headers) {
		return Decision{Kind: "wait", RoomURL: roomURL, RetryAfterSeconds: 10}
	}
	host, scheme, mark := k.hostOf(r), "https://", "?"
	if localPattern.MatchString(host) {
		scheme = "http://"
	}
	if strings.Contains(roomURL, "?") {
		mark = "&"
	}
	// The tabs of a browser share its state.
	state := k.NewState
	if states := k.statesIn(r); len(states) > 0 {
		state = states[0]
	}
	back := scheme + host + k.Gate.ReturnPath + "?to=" + escaped(pageIn(r.Target)) + "&state=" + state
	location := roomURL + mark + "return=" + escaped(back)
	return Decision{Kind: "room", Location: location, Cookie: k.stateCookie(r, state, stateSeconds)}
}

// Its path is always the root: the return path must get it.
func (k Knowledge) stateName(r Request) string {
	switch {
	case localPattern.MatchString(k.hostOf(r)):
		return "usher-state"
	case k.Gate.Cookie.Domain != "":
		return "__Secure-usher-state"
	}
	return "__Host-usher-state"
}

func (k Knowledge) statesIn(r Request) (states []string) {
	for i, state := range cookiesIn(r, k.stateName(r)) {
		if i < cookiesMax && statePattern.MatchString(state) {
			states = append(states, state)
		}
	}
	return states
}

// The room may be another site, which posts the grant: a browser sends only SameSite=None cookies with such a form.
func (k Knowledge) stateCookie(r Request, state string, maxAge int) string {
	domain, rest := "", "SameSite=None; Secure"
	if k.Gate.Cookie.Domain != "" {
		domain = "; Domain=" + k.Gate.Cookie.Domain
	}
	if localPattern.MatchString(k.hostOf(r)) {
		rest = "SameSite=Lax"
	}
	return fmt.Sprintf("%s=%s; Path=/%s; HttpOnly; %s; Max-Age=%d", k.stateName(r), state, domain, rest, maxAge)
}

func isNavigation(headers map[string]string) bool {
	_, isScript := headers["x-requested-with"]
	mode, hasMode := headers["sec-fetch-mode"]
	acceptsPages := strings.Contains(strings.ToLower(headers["accept"]), "text/html")
	return !isScript && (!hasMode || mode == "navigate") && acceptsPages
}

// The host of a request with its port if it is the gate's, else the gate's first.
func (k Knowledge) hostOf(r Request) string {
	parts := hostPattern.FindStringSubmatch(strings.ToLower(r.Headers["host"]))
	if parts != nil && contains(k.Gate.Hosts, parts[1]) {
		return parts[1] + parts[2]
	}
	return k.Gate.Hosts[0]
}

// __Host- keeps out cookies that other hosts of the domain have set.
func (k Knowledge) cookieName(r Request, experienceID string) string {
	cookie, prefix, name := k.Gate.Cookie, "__Secure-", k.Gate.Cookie.Name
	if name == "" {
		name = "usher-grant"
	}
	if cookie.Domain == "" && (cookie.Path == "" || cookie.Path == "/") {
		prefix = "__Host-"
	}
	if localPattern.MatchString(k.hostOf(r)) {
		prefix = ""
	}
	return prefix + name + "-" + experienceID
}

func (k Knowledge) cookieOf(r Request, token string, c *claims) string {
	path := k.Gate.Cookie.Path
	if path == "" {
		path = "/"
	}
	text := k.cookieName(r, c.ExperienceID) + "=" + token + "; Path=" + path
	if k.Gate.Cookie.Domain != "" {
		text += "; Domain=" + k.Gate.Cookie.Domain
	}
	text += "; HttpOnly; SameSite=Lax"
	if !localPattern.MatchString(k.hostOf(r)) {
		text += "; Secure"
	}
	if c.Exp != nil {
		left := math.Floor(*c.Exp - float64(k.Now)/1000)
		text += fmt.Sprintf("; Max-Age=%.0f", math.Max(1, left))
	}
	return text
}

// A page of the same site: no other host, no backslash that browsers read as a slash, no line break.
func pageIn(page string) string {
	if len(page) <= pageLengthMax && pagePattern.MatchString(page) {
		return page
	}
	return "/"
}

// The first field of this name in a query or form.
func fieldIn(text, name string) string {
	for _, pair := range strings.Split(text, "&") {
		if strings.HasPrefix(pair, name+"=") {
			return unescaped(strings.ReplaceAll(pair[len(name)+1:], "+", " "))
		}
	}
	return ""
}

// The first rule that fits. One that protects fits by any reading of the path, one that lets pass by all.
func (k Knowledge) ruleFor(r Request) *Rule {
	sent := unescaped(pathOf(r.Target))
	last := resolved(unescaped(unescaped(sent)))
	for i := range k.Gate.Rules {
		rule := &k.Gate.Rules[i]
		one, other := rule.fitsPath(sent), rule.fitsPath(last)
		fits := one || other
		if rule.queueID() == "" {
			fits = one && other
		}
		if fits && rule.fitsRest(r) {
			return rule
		}
	}
	return nil
}

// The queue of the rule; empty if it lets pass.
func (rule *Rule) queueID() string {
	var then struct {
		QueueID string `json:"queueId"`
	}
	_ = json.Unmarshal(rule.Then, &then)
	return then.QueueID
}

func (rule *Rule) fitsPath(reading string) bool {
	path, prefix := rule.When.Path, unescaped(rule.When.PathPrefix)
	if rule.queueID() == "" {
		return (path == nil || unescaped(*path) == reading) && strings.HasPrefix(reading, prefix)
	}
	isPath := path == nil || bare(unescaped(*path)) == bare(reading)
	return isPath && strings.HasPrefix(lower(reading), lower(prefix))
}

func (rule *Rule) fitsRest(r Request) bool {
	when := rule.When
	if when.Methods != nil && !contains(when.Methods, r.Method) {
		return false
	}
	if when.Header != nil {
		value, exists := r.Headers[strings.ToLower(when.Header.Name)]
		if !exists || (when.Header.Value != nil && value != *when.Header.Value) {
			return false
		}
	}
	if when.Cookie != "" && len(cookiesIn(r, when.Cookie)) == 0 {
		return false
	}
	return when.Crawler == "" || when.Crawler == r.Crawler
}

// The values of all cookies of this name.
func cookiesIn(r Request, name string) (values []string) {
	for _, pair := range strings.Split(r.Headers["cookie"], ";") {
		pair = strings.TrimSpace(pair)
		if strings.HasPrefix(pair, name+"=") {
			values = append(values, pair[len(name)+1:])
		}
	}
	return values
}

// The path of a target, without scheme and host where a proxy sends them.
func pathOf(target string) string {
	path := originPattern.ReplaceAllString(target, "")
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	if path == "" {
		return "/"
	}
	return path
}

// Without empty and dot segments, backslashes and parameters of segments.
func resolved(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	var segments []string
	for _, part := range strings.Split(path, "/") {
		segment, _, _ := strings.Cut(part, ";")
		switch {
		case segment == "..":
			if len(segments) > 0 {
				segments = segments[:len(segments)-1]
			}
		case segment != "" && segment != ".":
			segments = append(segments, segment)
		}
	}
	if len(segments) > 0 && strings.HasSuffix(path, "/") {
		segments = append(segments, "")
	}
	return "/" + strings.Join(segments, "/")
}

// Many origins take these for the same.
func bare(path string) string { return lower(strings.TrimRight(path, "/")) }

// Only ASCII: the bytes of a path need not be text.
func lower(text string) string {
	bytes := []byte(text)
	for i, byte := range bytes {
		if 'A' <= byte && byte <= 'Z' {
			bytes[i] += 'a' - 'A'
		}
	}
	return string(bytes)
}

// Decodes escapes, and leaves what is no escape.
func unescaped(text string) string {
	return escapePattern.ReplaceAllStringFunc(text, func(escape string) string {
		plain, _ := url.PathUnescape(escape)
		return plain
	})
}

// Escapes all but unreserved characters.
func escaped(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func bytesOf(base64url string) []byte {
	bytes, _ := base64.RawURLEncoding.DecodeString(base64url)
	return bytes
}

func contains(values []string, wanted string) bool {
	for _, value := range values {
		if value == wanted {
			return true
		}
	}
	return false
}
