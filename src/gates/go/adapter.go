package gate

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	defaultPatience = 900 * time.Millisecond
	// A call that ends so much after its patience says that this process had no processor, and nothing about Usher.
	stalled = 100 * time.Millisecond
	// How often a call is made while Usher answers others, and how often that of a visitor.
	attemptsMax       = 2
	attemptsOfPassMax = 5
	recordAge         = 10 * time.Second
	engagedAge        = 2 * time.Second
	keysAge           = time.Minute
	endedMax          = 1_000_000
	visitorsMax       = 200_000
	grantsAtOnceMax   = 1_000
	formMax           = 16_384
	answerMax         = 16 << 20
)

// Field is a gate inside of a site:
//
//	field := &gate.Field{URL: "https://usher.example.com", GateID: id, Key: key}
//	http.ListenAndServe(":8080", field.Handler(site))
//
// A goroutine keeps record, keys and ended grants current and reports visitors. A request reads memory alone, except
// that a new visitor costs one call of pass. While Usher is out of reach nobody waits for it.
type Field struct {
	URL, GateID, Key string
	// FailOpen says what happens to all requests until the record has been read once.
	FailOpen bool
	// Crawler names the crawler that the site has verified. May be nil.
	Crawler func(*http.Request) string
	// ClientAddress names the visitor's address as a proxy that you trust does; the host of r.RemoteAddr where no proxy
	// stands before. Usher's limits for each address hold then. May be nil.
	ClientAddress func(*http.Request) string

	start  sync.Once
	ready  chan struct{}
	client http.Client

	mutex     sync.RWMutex // of what follows
	record    *Record
	keys      KeySet
	reachable bool
	ended     map[string]bool
	endedTill map[string]time.Time
	keyDue    time.Time
	answered  time.Time

	visitors    sync.Mutex // of what follows
	counts      map[string]int
	noted, past map[string]time.Time
	waiting     map[string]map[string]bool

	// Only the goroutine reads and writes these.
	etag, since string
	instance    string
	recordDue   time.Time
}

// refused: Usher has answered with a refusal. Any error but this one and late means that it is out of reach.
type refused struct {
	status int
	text   string
}

func (r refused) Error() string { return fmt.Sprintf("Usher refuses: %d %s", r.status, r.text) }

// late: a call has no answer, although Usher answers others.
type late struct{ error }

// Handler lets requests through to the site, or answers them.
func (f *Field) Handler(site http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := f.decide(r)
		switch {
		case d.Kind != "pass":
			d.answer(w)
		case d.Cookie != "":
			a := &answering{ResponseWriter: w, cookie: d.Cookie}
			site.ServeHTTP(a, r)
			a.addCookie()
		default:
			site.ServeHTTP(w, r)
		}
	})
}

// Never answers "ask".
func (f *Field) decide(r *http.Request) Decision {
	f.start.Do(f.begin)
	select {
	case <-f.ready:
	case <-time.After(defaultPatience):
	}
	f.mutex.RLock()
	isKnown := f.record != nil
	returnPath := ""
	if isKnown {
		returnPath = f.record.ReturnPath
	}
	f.mutex.RUnlock()
	if !isKnown && f.FailOpen {
		return Decision{Kind: "pass"}
	}
	if !isKnown {
		return Decision{Kind: "closed", RetryAfterSeconds: 5}
	}
	asked := f.requestOf(r)
	if r.Method == "POST" && pathOf(asked.Target) == returnPath {
		asked.Form = formOf(r)
	}
	d := f.knowing(func(k Knowledge) Decision { return k.Decide(asked) })
	if d.Kind == "ask" {
		address := ""
		if f.ClientAddress != nil {
			address = f.ClientAddress(r)
		}
		answer := f.ask(d.QueueID, address)
		d = f.knowing(func(k Knowledge) Decision { return k.Settle(asked, answer) })
		if answer.Status == "GRANTED" && d.JTI == "" {
			// Usher has a new key.
			f.mutex.Lock()
			f.keyDue = time.Time{}
			f.mutex.Unlock()
		}
	}
	f.visitors.Lock()
	f.counts[d.Kind]++
	f.visitors.Unlock()
	if d.JTI != "" {
		f.seen(d.JTI, d.Cookie != "")
	}
	return d
}

func (f *Field) knowing(decide func(Knowledge) Decision) Decision {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	return decide(Knowledge{*f.record, f.keys, f.ended, f.reachable, time.Now().UnixMilli(), newName()})
}

func (f *Field) requestOf(r *http.Request) Request {
	asked := Request{Method: r.Method, Target: r.RequestURI, Headers: map[string]string{}}
	for name, values := range r.Header {
		separator := ", "
		if name == "Cookie" {
			separator = "; "
		}
		asked.Headers[strings.ToLower(name)] = strings.Join(values, separator)
	}
	asked.Headers["host"] = r.Host
	if f.Crawler != nil {
		asked.Crawler = f.Crawler(r)
	}
	return asked
}

// The form of the return path; empty if it is too long.
func formOf(r *http.Request) string {
	text, err := io.ReadAll(io.LimitReader(r.Body, formMax+1))
	if err != nil || len(text) > formMax {
		return ""
	}
	return string(text)
}

func (f *Field) ask(queueID, address string) (answer Answer) {
	headers, body := map[string]string{"Idempotency-Key": newName()}, map[string]string{}
	if ip := net.ParseIP(address); ip != nil {
		body["clientAddress"] = ip.String()
	}
	_, err := f.callTimes(attemptsOfPassMax, "POST", "/api/queues/"+queueID+"/pass", body, headers, &answer)
	if errors.As(err, &late{}) {
		return Answer{Status: "ROOM"}
	}
	if err != nil {
		var no refused
		// Usher's "no" to a visitor must not open a gate. A wrong key says nothing about the visitor.
		if errors.As(err, &no) && no.status != 401 {
			if strings.Contains(no.text, `"CLOSED"`) {
				return Answer{Status: "ENDED"}
			}
			if no.status == 404 {
				return Answer{Status: "REFUSED"}
			}
			return Answer{Status: "ROOM"}
		}
		f.failed(err)
		return Answer{Status: "FAILED"}
	}
	if answer.Status == "QUEUED" {
		f.mutex.Lock()
		defer f.mutex.Unlock()
		// Until the next record everybody goes to the room.
		if queue, exists := f.record.Queues[queueID]; exists {
			queue.Engaged = true
			f.record.Queues[queueID] = queue
		}
	}
	return answer
}

// Names a visitor, so that a repeated call is about the same one, or a browser.
func newName() string {
	bytes := make([]byte, 16)
	_, _ = rand.Read(bytes)
	return fmt.Sprintf("%x", bytes)
}

// Notes a visitor for the next renewal, at half of the time for which its grant lasts without one.
func (f *Field) seen(jti string, isNew bool) {
	queueID, _, _ := strings.Cut(jti, ".")
	f.mutex.RLock()
	renewal := f.record.Queues[queueID].AdmissionRenewal
	f.mutex.RUnlock()
	if renewal == nil {
		return
	}
	half := time.Duration(renewal.IdleSeconds * float64(time.Second) / 2)
	f.visitors.Lock()
	defer f.visitors.Unlock()
	before, isNoted := f.noted[jti]
	if !isNoted {
		before, isNoted = f.past[jti]
	}
	if isNoted && time.Since(before) < half {
		return
	}
	if len(f.noted) >= visitorsMax {
		f.noted, f.past = map[string]time.Time{}, f.noted
	}
	f.noted[jti] = time.Now()
	if !isNew {
		f.put(queueID, jti)
	}
}

func (f *Field) put(queueID, jti string) {
	if f.waiting[queueID] == nil {
		f.waiting[queueID] = map[string]bool{}
	}
	if len(f.waiting[queueID]) < visitorsMax {
		f.waiting[queueID][jti] = true
	}
}

func (f *Field) begin() {
	f.ready, f.reachable = make(chan struct{}), true
	f.ended, f.endedTill = map[string]bool{}, map[string]time.Time{}
	f.noted, f.waiting = map[string]time.Time{}, map[string]map[string]bool{}
	f.counts, f.instance = map[string]int{}, newName()
	f.client = http.Client{
		Timeout: defaultPatience,
		// The key is for Usher alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	go func() {
		for isFirst := true; ; isFirst = false {
			next := time.Now().Add(time.Second)
			if err := f.read(); err != nil {
				f.failed(err)
			} else if err := f.renew(); err != nil {
				f.failed(err)
			}
			if isFirst {
				close(f.ready)
			}
			time.Sleep(time.Until(next))
		}
	}()
}

// Reads what is due.
func (f *Field) read() error {
	now := time.Now()
	f.mutex.RLock()
	keyDue := f.keyDue
	f.mutex.RUnlock()
	if !now.Before(keyDue) {
		var keys KeySet
		if _, err := f.call("GET", "/.well-known/jwks.json", nil, nil, &keys); err != nil {
			return err
		}
		f.mutex.Lock()
		f.keys, f.keyDue = keys, now.Add(keysAge)
		f.mutex.Unlock()
	}
	if !now.Before(f.recordDue) || !f.isReachable() {
		if err := f.readRecord(now); err != nil {
			return err
		}
	}
	if err := f.readEnded(now); err != nil {
		return err
	}
	f.mutex.Lock()
	f.reachable = true
	f.mutex.Unlock()
	return nil
}

func (f *Field) readRecord(now time.Time) error {
	headers := map[string]string{}
	// An engaged queue that this gate has noticed itself is not in the tag.
	if f.etag != "" && !f.isEngaged() {
		headers["If-None-Match"] = f.etag
	}
	record := &Record{}
	etag, err := f.call("GET", "/api/gates/"+f.GateID, nil, headers, record)
	if err != nil {
		return err
	}
	if record.OrganizationID != "" {
		f.mutex.Lock()
		f.record, f.etag = record, etag
		f.mutex.Unlock()
	}
	f.recordDue = now.Add(recordAge)
	if f.isEngaged() {
		f.recordDue = now.Add(engagedAge)
	}
	return nil
}

func (f *Field) isReachable() bool {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	return f.reachable
}

func (f *Field) isEngaged() bool {
	f.mutex.RLock()
	defer f.mutex.RUnlock()
	if f.record != nil {
		for _, queue := range f.record.Queues {
			if queue.Engaged {
				return true
			}
		}
	}
	return false
}

func (f *Field) readEnded(now time.Time) error {
	for after := ""; ; {
		query := url.Values{}
		if f.since != "" {
			query.Set("since", f.since)
		}
		if after != "" {
			query.Set("after", after)
		}
		var page struct {
			Data []struct {
				JTI       string
				ExpiresAt *time.Time
			}
			Until, Next string
		}
		report := map[string]string{"Usher-Gate": f.report()}
		if _, err := f.call("GET", "/api/gates/"+f.GateID+"/ended?"+query.Encode(), nil, report, &page); err != nil {
			return err
		}
		for _, grant := range page.Data {
			f.end(grant.JTI, grant.ExpiresAt)
		}
		if after = page.Next; after == "" {
			f.since = page.Until
			break
		}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for jti, until := range f.endedTill {
		if until.Before(now) {
			delete(f.ended, jti)
			delete(f.endedTill, jti)
		}
	}
	return nil
}

// What staff see of this process.
func (f *Field) report() string {
	f.mutex.RLock()
	version := f.record.Version
	f.mutex.RUnlock()
	if version == "" {
		version = "unknown"
	}
	text := "go/" + f.instance + " " + version
	f.visitors.Lock()
	defer f.visitors.Unlock()
	for kind, count := range f.counts {
		text += fmt.Sprintf(" %s=%d", kind, count)
	}
	return text
}

// Without a time the token never expires.
func (f *Field) end(jti string, until *time.Time) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if len(f.ended) < endedMax {
		f.ended[jti] = true
		if until != nil {
			f.endedTill[jti] = *until
		}
	}
}

func (f *Field) renew() error {
	f.visitors.Lock()
	taken := f.waiting
	f.waiting = map[string]map[string]bool{}
	f.visitors.Unlock()
	for queueID, grants := range taken {
		some := []string{}
		for jti := range grants {
			if some = append(some, jti); len(some) == grantsAtOnceMax {
				if err := f.renewSome(queueID, some); err != nil {
					return err
				}
				some = nil
			}
		}
		if len(some) > 0 {
			if err := f.renewSome(queueID, some); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Field) renewSome(queueID string, grants []string) error {
	var answer struct{ Results []struct{ JTI, Code string } }
	body := map[string][]string{"grants": grants}
	if _, err := f.call("POST", "/api/queues/"+queueID+"/renew", body, nil, &answer); err != nil {
		f.visitors.Lock()
		defer f.visitors.Unlock()
		for _, jti := range grants {
			f.put(queueID, jti)
		}
		return err
	}
	for _, result := range answer.Results {
		if result.Code != "" && result.JTI != "" {
			f.end(result.JTI, nil)
		}
	}
	return nil
}

func (f *Field) call(method, path string, body any, headers map[string]string, found any) (string, error) {
	return f.callTimes(attemptsMax, method, path, body, headers, found)
}

// One call without an answer says little: Usher counts as out of reach only if it has answered no other call meanwhile,
// nor the same one again where the connection broke at once.
func (f *Field) callTimes(timesMax int, method, path string, body any, headers map[string]string, found any) (string, error) {
	for times := 1; ; times++ {
		began := time.Now()
		etag, err := f.sent(method, path, body, headers, found)
		isAnswer := err == nil || errors.As(err, &refused{})
		f.mutex.Lock()
		if isAnswer {
			f.answered = time.Now()
		}
		took := time.Since(began)
		isHeard := !f.answered.Before(began) || took > defaultPatience+stalled
		f.mutex.Unlock()
		if isAnswer || (!isHeard && (times > 1 || took > defaultPatience/3)) {
			return etag, err
		}
		if times >= timesMax && isHeard {
			return "", late{err}
		}
		if times >= timesMax {
			return "", err
		}
	}
}

// Reads the answer into found, and returns its tag. Nothing is read if the tag is still right.
func (f *Field) sent(method, path string, body any, headers map[string]string, found any) (string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequest(method, strings.TrimRight(f.URL, "/")+path, bytes.NewReader(text))
	if err != nil {
		return "", err
	}
	if body == nil {
		request.Body, request.ContentLength = nil, 0
	}
	request.Header.Set("Authorization", "Bearer "+f.Key)
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	reply, err := f.client.Do(request)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	text, err = io.ReadAll(io.LimitReader(reply.Body, answerMax))
	switch {
	case err != nil:
		return "", err
	case reply.StatusCode == http.StatusNotModified:
		return "", nil
	case reply.StatusCode >= 400 && reply.StatusCode < 500:
		return "", refused{reply.StatusCode, fmt.Sprintf("%.1000s", text)}
	case reply.StatusCode >= 300:
		return "", errors.New(reply.Status)
	}
	return reply.Header.Get("ETag"), json.Unmarshal(text, found)
}

func (f *Field) failed(err error) {
	if !errors.As(err, &refused{}) && !errors.As(err, &late{}) {
		f.mutex.Lock()
		f.reachable = false
		f.mutex.Unlock()
	}
	log.Printf("The gate has no good answer from Usher: %v", err)
}

// Answers where the site does not.
func (d Decision) answer(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	if d.Kind == "return" || d.Kind == "room" {
		header.Set("Location", d.Location)
		if d.Cookie != "" {
			header.Add("Set-Cookie", d.Cookie)
		}
		for _, cookie := range d.Cookies {
			header.Add("Set-Cookie", cookie)
		}
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	header.Set("Retry-After", fmt.Sprint(d.RetryAfterSeconds))
	if d.Kind == "wait" {
		header.Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "Please wait in the room", "roomUrl": d.RoomURL})
		return
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	page := laterPage
	if d.Because == "ended" {
		page = overPage
	}
	fmt.Fprintf(w, closedPage, d.RetryAfterSeconds, page)
}

const closedPage = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="%d">` +
	`<meta name="viewport" content="width=device-width">%s</html>`

const laterPage = `<title>One moment</title><h1>One moment</h1>` +
	`<p>The shop is not available right now. This page tries again by itself.</p>`

const overPage = `<title>Closed</title><h1>Closed</h1><p>This page is not open any more.</p>`

// answering adds the cookie as late as the site writes, which may have headers of its own.
type answering struct {
	http.ResponseWriter
	cookie string
}

func (a *answering) addCookie() {
	if a.cookie != "" {
		a.Header().Add("Set-Cookie", a.cookie)
		// The visitor's answer is nobody else's.
		a.Header().Set("Cache-Control", "no-store")
		a.cookie = ""
	}
}

func (a *answering) WriteHeader(status int) {
	a.addCookie()
	a.ResponseWriter.WriteHeader(status)
}

func (a *answering) Write(text []byte) (int, error) {
	a.addCookie()
	return a.ResponseWriter.Write(text)
}

func (a *answering) Flush() {
	a.addCookie()
	if flusher, can := a.ResponseWriter.(http.Flusher); can {
		flusher.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }
