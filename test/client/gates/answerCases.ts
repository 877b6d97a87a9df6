/** What follows where Usher answers or does not. What is expected is written here, not computed by a gate. */
import {
  ask,
  back,
  closed,
  cookie,
  grant,
  inside,
  newState,
  stateCookie,
  now,
  over,
  pass,
  plain,
  post,
  strangeKey,
  toRoom,
  valid,
  vectors,
  visit,
  wait,
  withCookie
} from "./vectorParts.ts"

const local = visit("/checkout", { host: "localhost:3000" })

const failures = vectors("while Usher is out of reach", [
  ["a closed gate is closed", visit(), closed, { isReachable: false }],
  ["a closed gate is closed for programs too", plain({}), closed, { isReachable: false }],
  ["a closed gate is closed where nobody waits", visit(), closed, { isReachable: false, gate: "quiet" }],
  ["an open gate passes", visit(), pass, { isReachable: false, gate: "open" }],
  ["an open rule of a closed gate passes", visit("/tickets"), pass, { isReachable: false }],
  ["a closed rule of an open gate is closed", visit(), closed, { isReachable: false, gate: "openButClosed" }],
  ["a path that needs no grant passes", visit("/health"), pass, { isReachable: false }],
  ["an expired grant is no grant", withCookie(valid), closed, { isReachable: false, now: now + 600_000 }],
  [
    "an expired grant passes an open gate",
    withCookie(valid),
    pass,
    { isReachable: false, gate: "open", now: now + 600_000 }
  ]
])

const ends = vectors("a queue", [
  ["that has ended is closed", visit(), over, { gate: "ended" }],
  ["that has ended is closed to programs", plain({}), over, { gate: "ended" }],
  ["that has ended is closed while Usher is out of reach", visit(), over, { gate: "ended", isReachable: false }],
  ["that has ended lets pass where the rule says so", visit("/later"), pass, { gate: "ended" }],
  [
    "that has ended lets pass where the rule says so while Usher is out of reach",
    visit("/later"),
    pass,
    { gate: "ended", isReachable: false }
  ],
  ["that has ended admits who is inside", withCookie(valid), inside(), { gate: "ended" }],
  ["that has ended does not admit an ended grant", withCookie(valid), over, { gate: "ended", ended: ["grant-1"] }],
  ["that has ended still takes grants", post(valid), back("/checkout", cookie(valid)), { gate: "ended" }],
  ["that has not opened leads to the room", visit(), toRoom(), { gate: "scheduled" }],
  ["that has not opened lets programs wait", plain({}), wait, { gate: "scheduled" }],
  [
    "that has not opened is closed while Usher is out of reach",
    visit(),
    closed,
    { gate: "scheduled", isReachable: false }
  ],
  [
    "that has not opened is closed even where its end lets pass",
    visit("/later"),
    closed,
    { gate: "scheduled", isReachable: false }
  ],
  ["that is open leads to the room", visit(), toRoom(), { gate: "begun" }],
  ["that is open passes by the fail mode", visit(), pass, { gate: "begun", isReachable: false }],
  ["that is open is asked", visit(), ask, { gate: "begunQuiet" }],
  ["that ends meanwhile is closed", visit(), over, { gate: "begunQuiet", answer: { status: "ENDED" } }],
  [
    "that ends meanwhile lets pass where the rule says so",
    visit("/later"),
    pass,
    { gate: "begunQuiet", answer: { status: "ENDED" } }
  ],
  ["that is gone meanwhile is closed", visit(), closed, { gate: "begunQuiet", answer: { status: "REFUSED" } }],
  [
    "that takes nobody from a gate leads to the room",
    visit(),
    toRoom(),
    { gate: "begunQuiet", answer: { status: "ROOM" } }
  ],
  [
    "that takes nobody from a gate lets programs wait",
    plain({}),
    wait,
    { gate: "begunQuiet", answer: { status: "ROOM" } }
  ],
  [
    "that takes nobody from a gate leads to its own room",
    visit("/tickets"),
    {
      kind: "room",
      location: `https://usher.example.com/e/concert?return=${encodeURIComponent(`https://shop.example.com/.usher/return?to=%2Ftickets&state=${newState}`)}`,
      cookie: stateCookie(newState)
    },
    { answer: { status: "ROOM" } }
  ],
  ["that is unknown leads nowhere", visit("/old"), closed, { answer: { status: "ROOM" } }],
  ["that does not answer passes by the fail mode", visit(), pass, { gate: "begunQuiet", answer: { status: "FAILED" } }]
])

const answers = vectors("a new visitor", [
  ["is asked for where nobody waits", visit(), ask, { gate: "quiet" }],
  ["by a program is asked for where nobody waits", plain({}), ask, { gate: "quiet" }],
  ["with an expired grant is asked for", withCookie(valid), ask, { gate: "quiet", now: now + 600_000 }],
  ["of another queue is asked for there", visit("/tickets"), { kind: "ask", queueId: "queue-2" }],
  ["of a queue that is gone meets a closed gate", visit("/old"), closed],
  ["of a queue that is gone passes an open rule", visit("/old-open"), pass],
  [
    "who is granted passes with a cookie",
    visit(),
    { kind: "pass", jti: "grant-1", cookie: cookie(valid) },
    { gate: "quiet", answer: { status: "GRANTED", admissionGrant: valid } }
  ],
  [
    "at localhost who is granted gets its cookie",
    local,
    { kind: "pass", jti: "grant-1", cookie: cookie(valid, "usher-grant-drop", "Path=/; HttpOnly; SameSite=Lax") },
    { gate: "local", answer: { status: "GRANTED", admissionGrant: valid } }
  ],
  [
    "who must wait is sent to the room of the answer",
    visit(),
    toRoom(),
    { gate: "quiet", answer: { status: "QUEUED", roomUrl: "https://usher.example.com/e/drop" } }
  ],
  [
    "by a program who must wait is told so",
    plain({}),
    wait,
    { gate: "quiet", answer: { status: "QUEUED", roomUrl: "https://usher.example.com/e/drop" } }
  ],
  ["without an answer meets a closed gate", visit(), closed, { gate: "quiet", answer: { status: "FAILED" } }],
  ["without an answer passes an open gate", visit(), pass, { gate: "quietOpen", answer: { status: "FAILED" } }],
  [
    "with a grant of a strange key meets a closed gate",
    visit(),
    closed,
    { gate: "quiet", answer: { status: "GRANTED", admissionGrant: grant({}, strangeKey) } }
  ],
  [
    "with a grant of another organization passes an open gate without a cookie",
    visit(),
    pass,
    { gate: "quietOpen", answer: { status: "GRANTED", admissionGrant: grant({ organizationId: "other" }) } }
  ]
])

export const answerCases = [...failures, ...ends, ...answers]
