/** The return path, and the browsers that may use it. What is expected is written here, not computed by a gate. */
import {
  type Case,
  back,
  cookie,
  cookieName,
  grant,
  head,
  now,
  newState,
  plain,
  post,
  postedBy,
  signature,
  state,
  stateCookie,
  strangeKey,
  toRoom,
  valid,
  vectors,
  visit,
  wait
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

/** Pages of other sites, as an attacker writes them into the return path. */
export const hostile = [
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
      "of a visitor who is inside sets its cookie again",
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
      postedBy(`__Secure-usher-state=${state}`),
      back(
        "/checkout",
        cookie(valid, "__Secure-inside-drop", "Path=/; Domain=example.com; HttpOnly; SameSite=Lax; Secure"),
        stateCookie("", "__Secure-usher-state", "Path=/; Domain=example.com; HttpOnly; SameSite=None; Secure")
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
      postedBy(`usher-state=${state}`, valid, "?to=%2Fcheckout", { host: "localhost:3000" }),
      back(
        "/checkout",
        cookie(valid, "usher-grant-drop", "Path=/; HttpOnly; SameSite=Lax"),
        stateCookie("", "usher-state", "Path=/; HttpOnly; SameSite=Lax")
      ),
      { gate: "local" }
    ]
  ])
]

const named = (cookies: string, form = post(valid)) => ({ ...form, headers: { ...form.headers, cookie: cookies } })
const at = (target: string, form = post(valid)) => ({ ...form, target })
const host = `__Host-usher-state=${state}`

const states = vectors("the state of a browser", [
  ["that is another's sets no cookie", postedBy("__Host-usher-state=state-of-another-one"), back("/checkout")],
  ["that is not there sets no cookie", postedBy("a=b"), back("/checkout")],
  [
    "that is empty sets no cookie",
    at("/.usher/return?to=%2Fcheckout&state=", named("__Host-usher-state=")),
    back("/checkout")
  ],
  ["that its address does not have sets no cookie", at("/.usher/return?to=%2Fcheckout"), back("/checkout")],
  ["that only its address has sets no cookie", named(""), back("/checkout")],
  ["that was used sets no cookie again", postedBy("__Host-usher-state="), back("/checkout")],
  [
    "that is short sets no cookie",
    at("/.usher/return?to=%2Fcheckout&state=short", named("__Host-usher-state=short")),
    back("/checkout")
  ],
  [
    "with other characters sets no cookie",
    at(
      "/.usher/return?to=%2Fcheckout&state=state.of.another.browser",
      named("__Host-usher-state=state.of.another.browser")
    ),
    back("/checkout")
  ],
  ["that any host of the domain can set sets no cookie", postedBy(`usher-state=${state}`), back("/checkout")],
  ["that is only secure sets no cookie", postedBy(`__Secure-usher-state=${state}`), back("/checkout")],
  ["in lower case sets no cookie", postedBy(`__host-usher-state=${state}`), back("/checkout")],
  ["with a longer name sets no cookie", postedBy(`__Host-usher-states=${state}`), back("/checkout")],
  ["of one host sets no cookie where the gate names a domain", post(valid), back("/checkout"), { gate: "domain" }],
  [
    "without a prefix sets no cookie at a forged localhost",
    postedBy(`usher-state=${state}`, valid, "?to=%2Fcheckout", { host: "localhost" }),
    back("/checkout")
  ],
  [
    "in the form alone sets no cookie",
    { ...at("/.usher/return?to=%2Fcheckout"), form: `usher_grant=${valid}&state=${state}` },
    back("/checkout")
  ],
  ["does not admit by itself", visit("/checkout", { cookie: `${cookieName}=${state}` }), toRoom()],
  ["stands among others", postedBy(`a=b; __Host-usher-state=x; ${host}; c=d`), back("/checkout", cookie(valid))],
  ["after four others is not read", postedBy(`${"__Host-usher-state=x; ".repeat(4)}${host}`), back("/checkout")],
  [
    "may be escaped in the address",
    at(`/.usher/return?to=%2Fcheckout&state=${state.replaceAll("-", "%2D")}`),
    back("/checkout", cookie(valid))
  ],
  ["is kept for its next tab", visit("/checkout", { cookie: host }), toRoom("%2Fcheckout", undefined, { state })],
  [
    "that no gate has set is replaced",
    visit("/checkout", { cookie: "__Host-usher-state=<script>alert(1)</script>" }),
    toRoom()
  ],
  ["that any host of the domain can set is replaced", visit("/checkout", { cookie: `usher-state=${state}` }), toRoom()],
  [
    "is one of the domain where the gate names one",
    visit(),
    toRoom(undefined, undefined, {
      cookie: stateCookie(
        newState,
        "__Secure-usher-state",
        "Path=/; Domain=example.com; HttpOnly; SameSite=None; Secure"
      )
    }),
    { gate: "domain" }
  ],
  ["is one of the whole host where the cookie of the grant is one of a folder", visit(), toRoom(), { gate: "folder" }],
  [
    "at localhost is not only secure",
    visit("/checkout", { host: "localhost:3000" }),
    toRoom(undefined, "http%3A%2F%2Flocalhost%3A3000", {
      cookie: stateCookie(newState, "usher-state", "Path=/; HttpOnly; SameSite=Lax")
    }),
    { gate: "local" }
  ],
  ["is not that of a program", plain({ cookie: host }), wait]
])

export const returnCases = [...returns, ...states]
