/** Which grants and cookies admit. What is expected is written here, not computed by a gate. */
import {
  body,
  cookieName,
  grant,
  head,
  inside,
  key,
  newState,
  now,
  secondKey,
  signature,
  stateCookie,
  strangeKey,
  toRoom,
  valid,
  vectors,
  visit,
  withCookie
} from "./vectorParts.ts"

const otherBody = grant({ consumerId: "consumer-2" }).split(".")[1]!
const changed = (text: string, at: number) => text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1)

const grants = vectors("a grant", [
  ["admits", withCookie(valid), inside()],
  ["admits while Usher is out of reach", withCookie(valid), inside(), { isReachable: false }],
  ["admits where nobody waits", withCookie(valid), inside(), { gate: "quiet" }],
  ["of the second key admits", withCookie(grant({}, secondKey)), inside()],
  ["without an end admits", withCookie(grant({ exp: undefined })), inside()],
  ["admits a millisecond before its end", withCookie(valid), inside(), { now: now + 599_999 }],
  ["does not admit at its end", withCookie(valid), toRoom(), { now: now + 600_000 }],
  ["does not admit after its end", withCookie(grant({ exp: now / 1000 - 3600 })), toRoom()],
  ["of a strange key does not admit", withCookie(grant({}, strangeKey)), toRoom()],
  ["of a key that is no longer published does not admit", withCookie(valid), toRoom(), { keys: "former" }],
  ["of another organization does not admit", withCookie(grant({ organizationId: "other" })), toRoom()],
  ["of another experience does not admit", withCookie(grant({ experienceId: "concert" })), toRoom()],
  ["of test mode does not admit at a live gate", withCookie(grant({ mode: "test" })), toRoom()],
  ["of test mode admits at a test gate", withCookie(grant({ mode: "test" })), inside(), { gate: "test" }],
  ["of live mode does not admit at a test gate", withCookie(valid), toRoom(), { gate: "test" }],
  ["of another issuer does not admit", withCookie(grant({ iss: "other" })), toRoom()],
  ["of another audience does not admit", withCookie(grant({ aud: "other" })), toRoom()],
  ["is no access token", withCookie(grant({ type: "access" })), toRoom()],
  ["that has ended does not admit", withCookie(valid), toRoom(), { ended: ["grant-0", "grant-1"] }],
  ["admits when another has ended", withCookie(valid), inside(), { ended: ["grant-2"] }],
  ["with a changed header does not admit", withCookie(`${changed(head, 5)}.${body}.${signature}`), toRoom()],
  ["with a changed payload does not admit", withCookie(`${head}.${changed(body, 20)}.${signature}`), toRoom()],
  ["with the payload of another does not admit", withCookie(`${head}.${otherBody}.${signature}`), toRoom()],
  ["with a changed signature does not admit", withCookie(`${head}.${body}.${changed(signature, 9)}`), toRoom()],
  ["with a short signature does not admit", withCookie(`${head}.${body}.${signature.slice(0, 80)}`), toRoom()],
  ["without a signature does not admit", withCookie(`${head}.${body}.`), toRoom()],
  ["of two parts does not admit", withCookie(`${head}.${body}`), toRoom()],
  ["of four parts does not admit", withCookie(`${valid}.${signature}`), toRoom()],
  [
    "that asks for no algorithm does not admit",
    withCookie(grant({}, key, { alg: "none" }).replace(/[^.]*$/, "")),
    toRoom()
  ],
  [
    "that asks for a shared secret does not admit",
    withCookie(grant({}, strangeKey, { alg: "HS256", kid: "one" })),
    toRoom()
  ],
  ["longer than any grant does not admit", withCookie(grant({ more: "x".repeat(4_000) })), toRoom()],
  ["of other letters does not admit", withCookie("a+b.c/d.e="), toRoom()]
])

const domainState = stateCookie(
  newState,
  "__Secure-usher-state",
  "Path=/; Domain=example.com; HttpOnly; SameSite=None; Secure"
)

const otherGrant = grant({ jti: "grant-2" })

const cookies = vectors("a cookie", [
  ["that is empty does not admit", withCookie(""), toRoom()],
  ["among others admits", visit("/checkout", { cookie: `a=b; ${cookieName}=${valid}; c=d` }), inside()],
  ["without spaces between admits", visit("/checkout", { cookie: `a=b;${cookieName}=${valid};c=d` }), inside()],
  [
    "is believed after an invalid one of its name",
    visit("/checkout", { cookie: `${cookieName}=x; ${cookieName}=${valid}` }),
    inside()
  ],
  [
    "is believed before an invalid one of its name",
    visit("/checkout", { cookie: `${cookieName}=${valid}; ${cookieName}=x` }),
    inside()
  ],
  [
    "counts before a second one",
    visit("/checkout", { cookie: `${cookieName}=${otherGrant}; ${cookieName}=${valid}` }),
    inside("grant-2")
  ],
  [
    "counts after an ended one",
    visit("/checkout", { cookie: `${cookieName}=${otherGrant}; ${cookieName}=${valid}` }),
    inside(),
    { ended: ["grant-2"] }
  ],
  [
    "after four invalid ones is not read",
    visit("/checkout", { cookie: `${`${cookieName}=x; `.repeat(4)}${cookieName}=${valid}` }),
    toRoom()
  ],
  ["that any host of the domain can set does not admit", withCookie(valid, "usher-grant-drop"), toRoom()],
  ["that is only secure does not admit", withCookie(valid, "__Secure-usher-grant-drop"), toRoom()],
  ["in lower case does not admit", withCookie(valid, "__host-usher-grant-drop"), toRoom()],
  ["of another experience does not admit", withCookie(valid, "__Host-usher-grant-concert"), toRoom()],
  ["with a longer name does not admit", withCookie(valid, `${cookieName}x`), toRoom()],
  ["with a name that ends like it does not admit", withCookie(valid, `x${cookieName}`), toRoom()],
  [
    "of a domain admits where the gate names the domain",
    withCookie(valid, "__Secure-inside-drop"),
    inside(),
    { gate: "domain" }
  ],
  [
    "of one host does not admit where the gate names a domain",
    withCookie(valid),
    toRoom(undefined, undefined, { cookie: domainState }),
    { gate: "domain" }
  ],
  [
    "of a folder has the prefix that allows it",
    withCookie(valid, "__Secure-usher-grant-drop"),
    inside(),
    { gate: "folder" }
  ],
  [
    "of localhost has no prefix",
    visit("/checkout", { host: "localhost:3000", cookie: `usher-grant-drop=${valid}` }),
    inside(),
    { gate: "local" }
  ],
  [
    "without a prefix does not admit a forged localhost",
    visit("/checkout", { host: "localhost", cookie: `usher-grant-drop=${valid}` }),
    toRoom()
  ]
])

export const grantCases = [...grants, ...cookies]
