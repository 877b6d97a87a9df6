/** The shell of a room: the page that every visitor gets, and what a document and a theme may put into it. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { brotliDecompressSync } from "node:zlib"
import { type Answer, asServer, Usher } from "../../http/support/usherFixture.ts"
import { movableClock } from "../../support/movableClock.ts"
import * as Fixture from "../support/roomFixture.ts"

const { textOf } = Fixture
const clock = movableClock()

/** Longer than what everybody sees is reused. */
const laterMillis = 6_000

const queues = [{ name: "Front door", admitRate: 0 }]

/** The inline scripts and styles of a page whose hash its policy does not name. */
const refusedByPolicy = ({ text, headers }: Answer): ReadonlyArray<string> =>
  [...text.matchAll(/<(script|style)(?: [^>]*)?>([^]*?)<\/\1>/g)]
    .filter(([tag]) => !tag.includes('type="application/json"'))
    .map(([, , content]) => content!)
    .filter(
      (content) => !headers["content-security-policy"]!.includes(createHash("sha256").update(content).digest("base64"))
    )

describe("The shell", () => {
  layer(Fixture.layer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect("has equal bytes for all visitors, sets no cookie, and tells caches how long to keep it", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ queues })
        const before = yield* room.get("")
        assert.strictEqual(before.status, 200)
        yield* room.submit(before, "Join the queue")
        assert.isAbove(room.cookies.size, 0)
        yield* clock.putForward(laterMillis)
        const others = yield* (yield* Fixture.visitor(room.experienceId)).get("")
        const after = yield* room.get("")
        assert.strictEqual(after.text, others.text)
        assert.strictEqual(after.headers["etag"], others.headers["etag"])
        assert.include(textOf(after), "Waiting now: 1")
        assert.isUndefined(after.headers["set-cookie"])
        assert.strictEqual(
          after.headers["cache-control"],
          "public, max-age=5, s-maxage=10, stale-while-revalidate=60, stale-if-error=86400"
        )
        assert.strictEqual(after.headers["vary"], "Accept-Encoding, Accept-Language")
        assert.isUndefined(after.headers["access-control-allow-origin"])
        const unchanged = yield* room.get("", { "if-none-match": after.headers["etag"]! })
        assert.deepStrictEqual([unchanged.status, unchanged.text], [304, ""])
        const part = yield* room.get("now")
        assert.strictEqual(part.headers["cache-control"], "public, max-age=1, s-maxage=1")
        assert.isTrue(after.text.includes(part.text))
      })
    )

    it.effect(
      "lets names of the other direction of writing keep theirs, in headings, titles, choices and sentences",
      () =>
        Effect.gen(function* () {
          for (const [language, name] of [
            ["ar", "Spring Drop (2026)!"],
            ["he", "Frühjahr 2026 – 50%"],
            ["en", "מכירה 2026!"],
            ["de", "عرض الربيع (2026)"]
          ] as const) {
            const room = yield* Fixture.room({ queues: [{ name, admitRate: 0 }] }, { name })
            const page = yield* room.get(`?lang=${language}`)
            for (const tag of ["h1", 'h2 tabindex="-1"']) assert.include(page.text, `<${tag} dir="auto">${name}</`)
            const [, title] = /<title>([^]*?)<\/title>/.exec(page.text)!
            if (language === "en" || language === "de") assert.include(title, `\u2068${name}\u2069 – `)
          }
          const arabic = yield* (yield* Fixture.room({ queues })).get("?lang=ar")
          assert.include(textOf(arabic), "\u2068UTC\u2069")
          const english = yield* (yield* Fixture.room({ queues })).get("?lang=en")
          assert.notMatch(english.text, /[\u2066-\u2069]/)
        })
    )

    it.effect(
      "has forms without a name, to which the server gives one, so that a lost first answer makes no second guest",
      () =>
        Effect.gen(function* () {
          const room = yield* Fixture.room({ queues })
          const { action, fields } = Fixture.formOf(yield* room.get(""), "Join the queue")
          const named = yield* room.postOnce(action, fields)
          assert.strictEqual(named.status, 307)
          const location = named.headers["location"]!
          assert.match(location, /\/enter\?attempt=[0-9a-f-]{36}$/)
          assert.match(
            `${named.headers["set-cookie"]}`,
            /^usher-attempt=.*; Max-Age=60; Path=\/e; HttpOnly; SameSite=Lax$/
          )
          const attempt = room.cookies.get("usher-attempt")!
          /** The visitor's browser has got no answer: it has the name of its attempt, and no session. */
          const losing = Effect.fnUntraced(function* (path: string) {
            const answer = yield* room.postOnce(path, fields)
            assert.strictEqual(answer.status, 303)
            room.cookies.clear()
            room.cookies.set("usher-attempt", attempt)
          })
          yield* losing(location)
          // The browser reloads; then its visitor goes back, and presses the button again.
          yield* losing(location)
          yield* losing(action)
          const { live } = yield* Fixture.brand("GET", `/distributions/${room.sequence.queues[0].id}`)
          assert.strictEqual(live.counts.QUEUED, 1)
          room.cookies.clear()
          yield* room.submit(yield* room.get(""), "Join the queue")
          assert.include(textOf(yield* room.get("place")), "Your place in line 2")
        })
    )

    it.effect("runs its own script and styles alone, and is compressed", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const room = yield* Fixture.room({ queues }, { theme: { primary: "#b4002d", background: "#fff7f0" } })
        const shell = yield* room.get("")
        assert.include(shell.text, "--primary:#b4002d")
        assert.deepStrictEqual(refusedByPolicy(shell), [])
        assert.deepStrictEqual(refusedByPolicy(yield* room.get("place")), [])
        const policy = shell.headers["content-security-policy"]!
        assert.notInclude(policy, "unsafe")
        for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self';"]) {
          assert.include(policy, part)
        }
        const bytes = yield* Effect.promise(() =>
          fetch(new URL(`/e/${room.experienceId}`, consumerUrl), { headers: { "accept-encoding": "br" } }).then(
            (response) => response.text()
          )
        )
        assert.strictEqual(bytes, shell.text)
      })
    )

    it.effect("fits into ten kilobytes, and its script into five", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const room = yield* Fixture.room({ queues })
        const size = yield* contentLength(consumerUrl, `/e/${room.experienceId}`)
        assert.isBelow(size, 10_240)
      })
    )

    it.effect("shows openings and closings when they happen", () =>
      Effect.gen(function* () {
        const [openAt, closeAt] = [60_000, 120_000].map((millis) => new Date(clock.now() + millis).toISOString())
        const room = yield* Fixture.room({ queues: [{ ...queues[0], openAt, closeAt }] })
        for (const shown of ["Opens in", "Join the queue", "This ended"]) {
          assert.include(textOf(yield* room.get("")), shown)
          assert.include(textOf(yield* room.get("now")), shown)
          yield* clock.putForward(61_000)
        }
      })
    )

    it.effect("tells of a pause and of no rate beside it, also in the rules and the description", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ queues: [{ ...queues[0], admitRate: 60 }] })
        yield* Fixture.publish(room.experienceId, "rules", { body: { blocks: [{ type: "rules" }, { type: "place" }] } })
        const { id } = room.sequence.queues[0]
        yield* Fixture.brand("POST", `/queues/${id}/pause`)
        yield* clock.putForward(30_000)
        const paused = yield* room.get("")
        // On the card, in the rules, in the description, and where a link is shared.
        assert.lengthOf(paused.text.match(/Admission is paused at the moment\./g)!, 4)
        assert.notInclude(paused.text, "per minute")
        yield* Fixture.brand("POST", `/queues/${id}/resume`)
      })
    )

    it.effect("speaks the language that the visitor asks for, in its direction", () =>
      Effect.gen(function* () {
        const i18n = { de: { enterQueue: "Anstellen", queueByHand: "{secret}" } }
        const room = yield* Fixture.room({ queues }, { i18n })
        const german = yield* room.get("", { "accept-language": "de-AT,de;q=0.9,en;q=0.5" })
        assert.include(german.text, '<html lang="de" dir="ltr">')
        assert.include(textOf(german), "Zugelassen wird in der Reihenfolge der Ankunft. Anstellen")
        const arabic = yield* room.get("?lang=ar", { "accept-language": "de" })
        assert.include(arabic.text, '<html lang="ar" dir="rtl">')
        const joined = yield* room.submit(arabic, "انضم إلى الطابور")
        assert.include(textOf(joined), "أنت في الطابور")
      })
    )

    it.effect("shows the published page, by its slug or the last one, with its parts in place", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ queues })
        const blocks = [
          { type: "p", content: "Before" },
          { type: "section", children: [{ type: "place" }] },
          { type: "rules" },
          { type: "p", content: "After" }
        ]
        yield* Fixture.publish(room.experienceId, "first", { body: { blocks: [{ type: "p", content: "Only words" }] } })
        const last = yield* Fixture.publish(room.experienceId, "last", { body: { blocks } })
        yield* clock.putForward(laterMillis)
        assert.match(textOf(yield* room.get("")), /The last .*Before Front door .*How it works .* After/)
        assert.match(textOf(yield* room.get("first")), /The first .*Front door .*Only words/)
        yield* Fixture.brand("POST", `/experience-pages/${last}/unpublish`)
        yield* clock.putForward(laterMillis)
        assert.include(textOf(yield* room.get("")), "The first")
        const unpublished = yield* room.get("last")
        assert.strictEqual(unpublished.status, 404)
        assert.include(textOf(unpublished), "Page not found")
      })
    )

    it.effect("lets no document, name or theme run a script or leave its place", () =>
      Effect.gen(function* () {
        const { attack, ...room } = yield* Fixture.hostileRoom
        yield* clock.putForward(laterMillis)
        for (const page of [
          yield* room.get(""),
          yield* room.get("place"),
          yield* room.get(`?return=${encodeURIComponent(attack)}`)
        ]) {
          assert.strictEqual(page.status, 200)
          assert.deepStrictEqual(refusedByPolicy(page), [])
          assert.notMatch(page.text.replaceAll(/="[^"]*"/g, ""), /<script>alert|<[^>]* onerror|javascript:|evil/)
        }
      })
    )

    it.effect("does not exist for an unknown or archived experience, and says so in words", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({})
        assert.include(textOf(yield* room.get("")), "Nothing is open at the moment.")
        yield* Fixture.brand("DELETE", `/experiences/${room.experienceId}`)
        yield* clock.putForward(laterMillis)
        for (const path of ["", "place", "state", "/e/0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", "/e/x"]) {
          const page = yield* room.get(path, { "accept-language": "fr" })
          assert.strictEqual(page.status, 404, path)
          assert.include(textOf(page), "Page introuvable")
          assert.strictEqual(page.headers["cache-control"], "no-store")
        }
      })
    )

    it.effect("shows experiences of a test key too, with sessions of their own", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const headers = asServer(brand.testSecretKey)
        const body = { name: "Rehearsal", sequences: [{ name: "All", queues }] }
        const created = yield* admin({ method: "POST", path: "/api/experiences", headers, body })
        const rehearsal = yield* Fixture.visitor(created.body.id)
        yield* rehearsal.submit(yield* rehearsal.get(""), "Join the queue")
        assert.include([...rehearsal.cookies.keys()], `usher-${brand.organizationId}-test`)
        const real = yield* Fixture.room({ queues })
        rehearsal.cookies.forEach((value) => real.cookies.set(`usher-${brand.organizationId}`, value))
        assert.notInclude(textOf(yield* real.get("place")), "You are in line")
      })
    )
  })
})

/** The bytes of a page in Brotli. */
const contentLength = (url: string, path: string) =>
  Effect.promise(async () => {
    const { get } = await import("node:http")
    return new Promise<number>((resolve) => {
      get(new URL(path, url), { headers: { "accept-encoding": "br" }, agent: false }, (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => void chunks.push(chunk))
        response.on("end", () => {
          const bytes = Buffer.concat(chunks)
          assert.isAbove(brotliDecompressSync(bytes).length, bytes.length)
          resolve(bytes.length)
        })
      })
    })
  })
