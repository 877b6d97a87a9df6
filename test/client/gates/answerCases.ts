/** The return path, and what follows where Usher answers or does not. What is expected is written here, not computed by a gate. */
import {
  type Case,
  ask,
  back,
  closed,
  cookie,
  cookieName,
  grant,
  head,
  inside,
  now,
  over,
  pass,
  plain,
  post,
  signature,
  strangeKey,
  toRoom,
  valid,
  vectors,
  visit,
  wait,
  withCookie
} from "./vectorParts.ts"

const otherBody = grant({ consumerId: "consumer-2" }).split(".")[1]!

const accepted: ReadonlyArray<readonly [query: string, location: string]> = [
  ["?to=%2Fcheckout", "/checkout"],
  ["?to=/checkout", "/checkout"],
  ["?to=%2Fcheckout%3Fa%3D1%26b%3D2", "/checkout?a=1&b=2"],
  ["?a=b&to=%2Fcheckout", "/checkout"],
  ["?to=%2Fa&to=%2Fb", "/a"],
  ["?to=%2F", "/"],
  ["", "/"],
  ["?to=%2F%252F%252Fevil.example", "/%2F%2Fevil.example"]
]

const hostile = [
  "https://evil.example/",
  "//evil.example",
  "///evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "\\/evil.example",
  "%2F%2Fevil.example",
  "%2f%5cevil.example",
  "/%5Cevil.example",
  "javascript:alert(1)",
  "data:text/html,x",
  "evil.example",
  "@evil.example",
  "/%0D%0ALocation:%20https://evil.example",
  "/%0aSet-Cookie:a=b",
  "/a%0A",
  "/%09/evil.example",
  "%09//evil.example",
  "%20//evil.example",
  "/a%20b",
  "/a+b",
  "/a%00b",
  "/a%5Cb",
  "/%C3%A4",
  "/%7F",
  "http:evil.example",
  "https:/evil.example",
  "?x=//evil.example",
  "#//evil.example",
  ".evil.example",
  "..//evil.example",
  ":443/evil",
  `/${"a".repeat(2_000)}`,
  ""
]

const returns = [
  ...vectors(
    "a return",
    accepted.map(([query, location]): Case => [
      `to "${query}" leads to ${location}`,
      post(valid, query),
      back(location, cookie(valid))
    ])
  ),
  ...vectors(
    "a hostile return",
    hostile.map((to): Case => [
      `to "${to.slice(0, 60)}" leads to the front page`,
      post(valid, `?to=${to}`),
      back("/", cookie(valid))
    ])
  ),
  ...vectors("a return", [
    [
      "may be repeated",
      post(valid, "?to=%2Fcheckout", { cookie: `${cookieName}=${valid}` }),
      back("/checkout", cookie(valid))
    ],
    ["of an ended grant sets no cookie", post(valid), back("/checkout"), { ended: ["grant-1"] }],
    ["of an expired grant sets no cookie", post(valid), back("/checkout"), { now: now + 600_000 }],
    ["of a strange key sets no cookie", post(grant({}, strangeKey)), back("/checkout")],
    ["of another organization sets no cookie", post(grant({ organizationId: "other" })), back("/checkout")],
    [
      "of an experience that the gate does not know sets no cookie",
      post(grant({ experienceId: "other" })),
      back("/checkout")
    ],
    [
      "of the gate's other experience sets its cookie",
      post(grant({ experienceId: "concert" })),
      back("/checkout", cookie(grant({ experienceId: "concert" }), "__Host-usher-grant-concert"))
    ],
    ["of a changed grant sets no cookie", post(`${head}.${otherBody}.${signature}`), back("/checkout")],
    ["without a grant sets no cookie", { ...post(valid), form: "a=b" }, back("/checkout")],
    ["with an empty form sets no cookie", { ...post(valid), form: "" }, back("/checkout")],
    [
      "with the grant among other fields sets its cookie",
      { ...post(valid), form: `a=b&usher_grant=${valid}&c=d` },
      back("/checkout", cookie(valid))
    ],
    ["by GET sets no cookie", { ...post(valid), method: "GET" }, back("/checkout")],
    [
      "with a grant in its address sets no cookie",
      visit(`/.usher/return?to=%2Fcheckout&usher_grant=${valid}`),
      back("/checkout")
    ],
    [
      "of another type of body sets no cookie",
      post(valid, "?to=%2Fcheckout", { "content-type": "text/plain" }),
      back("/checkout")
    ],
    [
      "with a character set sets its cookie",
      post(valid, "?to=%2Fcheckout", { "content-type": "application/x-www-form-urlencoded; charset=UTF-8" }),
      back("/checkout", cookie(valid))
    ],
    [
      "while Usher is out of reach sets its cookie",
      post(valid),
      back("/checkout", cookie(valid)),
      { isReachable: false }
    ],
    [
      "with a strange host stays at its host",
      post(valid, "?to=%2Fcheckout", { host: "evil.example" }),
      back("/checkout", cookie(valid))
    ],
    [
      "of a grant without an end sets a cookie of the session",
      post(grant({ exp: undefined })),
      back("/checkout", cookie(grant({ exp: undefined })).replace("; Max-Age=600", ""))
    ],
    [
      "in a grant's last second keeps the cookie one second",
      post(valid),
      back("/checkout", cookie(valid).replace("600", "1")),
      { now: now + 599_500 }
    ],
    [
      "sets the cookie of the gate's domain",
      post(valid),
      back(
        "/checkout",
        cookie(valid, "__Secure-inside-drop", "Path=/; Domain=example.com; HttpOnly; SameSite=Lax; Secure")
      ),
      { gate: "domain" }
    ],
    [
      "sets the cookie of the gate's folder",
      post(valid),
      back("/checkout", cookie(valid, "__Secure-usher-grant-drop", "Path=/checkout; HttpOnly; SameSite=Lax; Secure")),
      { gate: "folder" }
    ],
    [
      "at localhost sets a cookie that is not only secure",
      post(valid, "?to=%2Fcheckout", { host: "localhost:3000" }),
      back("/checkout", cookie(valid, "usher-grant-drop", "Path=/; HttpOnly; SameSite=Lax")),
      { gate: "local" }
    ]
  ])
]

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
  ["that refuses a visitor is closed", visit(), closed, { gate: "begunQuiet", answer: { status: "REFUSED" } }],
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

export const answerCases = [...returns, ...failures, ...ends, ...answers]
