// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** Gates in the dashboard, over real HTTP and without a script. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { type Answer, Usher } from "../../http/support/usherFixture.ts"
import { operator, person } from "../support/operatorFixture.ts"
import { brand, formOf, formsOf, layer as usher, room, textOf } from "../support/roomFixture.ts"

/** An admin, and a drop with a queue. */
const world = Effect.gen(function* () {
  const admin = yield* operator
  yield* admin.signIn((yield* Usher).brand.secretKey)
  const dropName = `Drop ${randomUUID().slice(0, 8)}`
  const { sequence } = yield* room({ queues: [{ name: "Line", standby: true, admitRate: 60 }] }, { name: dropName })
  const queueId: string = sequence.queues[0].id
  return { ...admin, queueId, dropName }
})

/** What a person types into the form of a gate with one rule. */
const typedFor = (queueId: string, more: object = {}) => ({
  name: "Shop",
  hosts: "https://Shop.example/\nwww.shop.example",
  failMode: "closed",
  "rule.0.match": "prefix",
  "rule.0.path": "/checkout",
  "rule.0.then": queueId,
  "rule.0.failMode": "open",
  "rule.0.afterEnd": "pass",
  ...more
})

/** The values of the fields with this beginning, as a browser would send them. */
const valuesIn = (page: Answer, beginning: string): { readonly [name: string]: string } => {
  const inputs = Object.entries(formOf(page, "Make the gate").fields)
  const selects = [...page.text.matchAll(/<select[^>]* name="([^"]+)"[^>]*>([^]*?)<\/select>/g)].map(
    ([, name, options]) => [name!, /value="([^"]*)"[^>]* selected/.exec(options!)?.[1] ?? ""]
  )
  return Object.fromEntries([...inputs, ...selects].filter(([name]) => name!.startsWith(beginning)))
}

const problemAt = (page: Answer, name: string): string =>
  textOf({
    ...page,
    text:
      new RegExp(`<p class="error" id="f-${name.replaceAll(".", "\\.")}-problem">([^<]*)`).exec(page.text)?.[1] ?? ""
  })

layer(usher, { excludeTestServices: true })("Gates at the dashboard", (it) => {
  it.effect("say the next step while there is none", () =>
    Effect.gen(function* () {
      const { get } = yield* world
      const page = yield* get("/dashboard/gates")
      assert.include(textOf(page), ": name the hosts of your site and the pages that need a place in a queue")
      assert.match(page.text, /<a href="\/dashboard\/gates" aria-current="page"/)
      const viewer = yield* person(`${randomUUID()}@example.com`, "viewer")
      assert.include(textOf(yield* viewer.get("/dashboard/gates")), "No gate yet. An admin can make one.")
    })
  )

  it.effect("are made in a form, show their key once, and are changed", () =>
    Effect.gen(function* () {
      const { get, send, submit, queueId, dropName } = yield* world
      const empty = yield* get("/dashboard/gates/new")
      assert.include(textOf(empty), `A place in ${dropName} · Line`)
      const { action, fields } = formOf(empty, "Make the gate")
      const sent = { ...fields, ...typedFor(queueId) }
      const made = yield* send("POST", action, sent)
      assert.strictEqual(made.status, 200, textOf(made))
      const [, key] = /<code class="secret">(gk_live_[^<]+)<\/code>/.exec(made.text) ?? []
      assert.isDefined(key)
      const [, path = ""] = /href="(\/dashboard\/gates\/[0-9a-f-]+)#lines"/.exec(made.text) ?? []
      // The same form makes no second gate, and shows no key.
      const again = yield* send("POST", action, sent)
      assert.deepStrictEqual([again.status, again.headers["location"]], [303, path])
      const id = path.split("/").at(-1)!
      const gate = yield* brand("GET", `/gates/${id}`)
      assert.deepStrictEqual(gate.hosts, ["shop.example", "www.shop.example"])
      const choices = { failMode: "open", afterEnd: "pass" }
      assert.deepStrictEqual(gate.rules, [{ when: { pathPrefix: "/checkout" }, then: { queueId }, ...choices }])
      assert.deepStrictEqual([gate.failMode, gate.cookie, gate.returnPath], ["closed", {}, "/.usher/return"])

      const shown = yield* get(path)
      assert.include(textOf(shown), "This gate was made before.")
      assert.notInclude(shown.text, key)
      assert.match(textOf(shown), /Line\s*: a visit to it never ends\./)
      assert.match(textOf(shown), /The path begins with \/checkout: needs a grant of .* lets everybody pass/)
      const form = yield* get(`${path}/change`)
      const changed = yield* submit(form, "Save", { ...typedFor(queueId), "rule.0.name": "Checkout", failMode: "open" })
      assert.include(textOf(changed), "Shop was changed. Gates in the field know it within ten seconds.")
      const later = yield* brand("GET", `/gates/${id}`)
      assert.deepStrictEqual([later.rules[0].name, later.failMode], ["Checkout", "open"])
    })
  )

  it.effect("have rules that are added, moved and removed by buttons, with nothing stored", () =>
    Effect.gen(function* () {
      const { get, send, queueId } = yield* world
      const before = (yield* brand("GET", "/gates?first=100")).data.length
      const press = (page: Answer, doing: string, typed: object = {}) => {
        const { action, fields } = formOf(page, "Make the gate")
        return send("POST", action, { ...fields, ...valuesIn(page, "rule."), ...typed, do: doing })
      }
      const one = yield* press(yield* get("/dashboard/gates/new"), "add", typedFor(queueId))
      assert.strictEqual(one.status, 200)
      assert.deepInclude(valuesIn(one, "rule.0."), { "rule.0.path": "/checkout", "rule.0.then": queueId })
      const two = yield* press(one, "down.0", {
        "rule.1.match": "any",
        "rule.1.then": "pass",
        "rule.1.header": "x-monitoring"
      })
      assert.deepInclude(valuesIn(two, "rule."), {
        "rule.0.match": "any",
        "rule.0.header": "x-monitoring",
        "rule.0.then": "pass",
        "rule.1.path": "/checkout",
        "rule.1.failMode": "open"
      })
      const three = yield* press(two, "up.1")
      assert.strictEqual(valuesIn(three, "rule.")["rule.0.path"], "/checkout")
      const four = yield* press(three, "remove.0")
      assert.deepInclude(valuesIn(four, "rule."), { "rule.0.header": "x-monitoring" })
      assert.notProperty(valuesIn(four, "rule."), "rule.1.path")
      assert.strictEqual(formOf(four, "Make the gate").fields["rules"], "1")
      for (const strange of ["up.0", "down.7", "remove.9", "remove.x", "other.1"]) {
        assert.include([200, 400], (yield* press(four, strange)).status, strange)
      }
      assert.strictEqual((yield* brand("GET", "/gates?first=100")).data.length, before)
    })
  )

  it.effect("say what is wrong at each field, with what was typed", () =>
    Effect.gen(function* () {
      const { get, send, queueId } = yield* world
      const { action, fields } = formOf(yield* get("/dashboard/gates/new"), "Make the gate")
      const cases: ReadonlyArray<readonly [typed: object, field: string, says: RegExp]> = [
        [{ name: "" }, "name", /This is needed/],
        [{ hosts: "shop.example:8443" }, "hosts", /shop\.example:8443: It must be a host without a port/],
        [{ hosts: " " }, "hosts", /needed|At least/],
        [{ "rule.0.path": "" }, "rule.0.path", /Enter a path, such as \/checkout/],
        [{ "rule.0.path": "checkout" }, "rule.0.path", /begins with a slash/],
        [{ "rule.0.then": "" }, "rule.0.then", /Choose what happens/],
        [{ "rule.0.match": "any", "rule.0.then": "pass" }, "rule.0.match", /would let every request pass/],
        [{ "rule.0.headerValue": "yes" }, "rule.0.header", /Enter the name of the header/],
        [{ "rule.0.header": "x y" }, "rule.0.header", /letters, digits/],
        [{ "rule.0.methods": "GET, B4D" }, "rule.0.methods", /a method/],
        [{ "cookie.domain": "other.example" }, "cookie.domain", /must contain every host/],
        [{ returnPath: "back" }, "returnPath", /begins with a slash/]
      ]
      for (const [typed, field, says] of cases) {
        const all = { ...fields, ...typedFor(queueId), confirmed: randomUUID(), ...typed }
        const refused = yield* send("POST", action, all)
        assert.strictEqual(refused.status, 400, `${field}: ${textOf(refused)}`)
        assert.match(problemAt(refused, field), says, field)
        assert.match(refused.text, new RegExp(`<a href="#f-${field.replaceAll(".", "\\.")}">`), field)
        assert.include(
          formOf(refused, "Make the gate").fields["rule.0.path"],
          (typed as { "rule.0.path"?: string })["rule.0.path"] ?? "/checkout"
        )
      }
    })
  )

  it.effect("get another key, are archived after a question, and restored", () =>
    Effect.gen(function* () {
      const { get, send, submit } = yield* world
      const { id, key } = yield* brand("POST", "/gates", { name: "Side door", hosts: ["side.example"], rules: [] })
      const path = `/dashboard/gates/${id}`
      const asked = yield* submit(yield* get(path), "Replace the key…")
      assert.include(textOf(asked), "opens nothing any more")
      const form = formOf(asked, "Replace the key")
      const replaced = yield* send("POST", form.action, form.fields)
      const [, other] = /<code class="secret">(gk_live_[^<]+)<\/code>/.exec(replaced.text) ?? []
      assert.notStrictEqual(other, key)
      assert.strictEqual((yield* send("POST", form.action, form.fields)).status, 303)
      const { consumer } = yield* Usher
      const read = (as: string) => consumer({ path: `/api/gates/${id}`, headers: { authorization: `Bearer ${as}` } })
      assert.deepStrictEqual([(yield* read(key)).status, (yield* read(other!)).status], [401, 200])

      const question = yield* submit(yield* get(path), "Archive…")
      assert.strictEqual((yield* brand("GET", `/gates/${id}`)).name, "Side door")
      const archived = yield* submit(question, "Archive")
      assert.include(textOf(archived), "Side door is archived.")
      assert.isDefined(formsOf(archived).find(({ label }) => label === "Undo"))
      assert.strictEqual((yield* read(other!)).status, 401)
      const restored = yield* submit(archived, "Undo")
      assert.include(textOf(restored), "Side door is restored.")
      assert.strictEqual((yield* read(other!)).status, 200)
    })
  )

  it.effect("are read by viewers without the values of headers, tried by operators, and changed by admins", () =>
    Effect.gen(function* () {
      const { get } = yield* world
      const rules = [{ when: { header: { name: "x-monitoring", value: "let-me-pass-42" } }, then: "pass" }]
      const { id } = yield* brand("POST", "/gates", { name: "Guarded", hosts: ["shop.example"], rules })
      const path = `/dashboard/gates/${id}`
      assert.include((yield* get(path)).text, "let-me-pass-42")
      for (const role of ["viewer", "operator"] as const) {
        const someone = yield* person(`${randomUUID()}@example.com`, role)
        const page = yield* someone.get(path)
        assert.strictEqual(page.status, 200)
        assert.notInclude(page.text, "let-me-pass-42")
        assert.include(textOf(page), "the header x-monitoring has the value that admins see".slice(4))
        assert.strictEqual((yield* someone.get(`${path}/change`)).status, 403)
        const labels = formsOf(page).map(({ label }) => label)
        assert.notInclude(labels, "Archive…")
        assert.strictEqual(labels.includes("Try it"), role === "operator")
      }
    })
  )

  it.effect("show where they were seen in the last minute, and what they did", () =>
    Effect.gen(function* () {
      const { get, queueId } = yield* world
      const rules = [{ when: { pathPrefix: "/checkout" }, then: { queueId } }]
      const { id, key } = yield* brand("POST", "/gates", { name: "Front door", hosts: ["shop.example"], rules })
      const path = `/dashboard/gates/${id}`
      assert.include(textOf(yield* get(path)), "Nothing in the field has asked for this gate in the last minute.")
      const { consumer } = yield* Usher
      const { version } = yield* brand("GET", `/gates/${id}/instances`)
      const report = (text: string) =>
        consumer({
          path: `/api/gates/${id}/ended`,
          headers: { authorization: `Bearer ${key}`, "usher-gate": text }
        })
      yield* report(`usher-gate/one ${version} pass=1204 room=1`)
      const seen = textOf(yield* get(path))
      assert.include(seen, "seen in the last minute")
      assert.match(seen, /usher gate, beside a proxy as they are 1,204 passed, 1 went to the room/)
      assert.match(
        textOf(yield* get("/dashboard/gates")),
        /Front door shop\.example 1 rule seen in the last minute 1,204 passed/
      )
      yield* report("node/two former pass=1")
      const partly = textOf(yield* get(path))
      assert.include(partly, "seen, partly with former rules")
      assert.match(textOf(yield* get("/dashboard/gates")), /1,205 passed/)
    })
  )
})
