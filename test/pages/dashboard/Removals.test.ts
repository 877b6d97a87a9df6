/** Every form of the dashboard that takes something away: it asks first, or needs a typed word or key. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"
import { brand, formsOf, layer as usher, textOf } from "../support/roomFixture.ts"
import { aRehearsal } from "../../http/support/rehearsalFixture.ts"
import { aStock } from "../support/stockFixture.ts"
import { routesOf } from "../../../src/pages/dashboard/Routes.ts"

const routes = routesOf({} as Parameters<typeof routesOf>[0])

/** What takes something away, by the words of its button. */
const takesAway = /\b(remove|archive|end|disable|unpublish|erase|deny|cancel|delete|replace|revoke|reject)\b/i

const document = { schemaVersion: 1, editor: "rich-content-v0", kind: "experience-page", body: { blocks: [] } }

/** Records of every kind that a screen shows, by the first word of its path. */
const world = Effect.gen(function* () {
  const { brand: own, consumer, guest, queue } = yield* Usher
  const mechanism = yield* queue()
  const { experienceId } = yield* brand("GET", `/queues/${mechanism}`)
  const { consumerId, accessToken } = yield* guest()
  yield* consumer({
    method: "POST",
    path: `/api/queues/${mechanism}/enter`,
    headers: asConsumer(own.publishableKey, accessToken)
  })
  const made = (path: string, body: object) => Effect.map(brand("POST", path, body), ({ id }) => id as string)
  const page = yield* made("/experience-pages", { experienceId, slug: "a", title: "A", creativeDocument: document })
  yield* brand("POST", `/experience-pages/${page}/publish`)
  const product = {
    name: "Sneaker",
    pictures: [{ url: "https://cdn.example/1.jpg" }],
    variants: [{ options: [{ option: "Size", value: "41" }] }]
  }
  const records: { readonly [section: string]: string } = {
    mechanisms: mechanism,
    experiences: experienceId,
    catalogue: yield* made("/products", product),
    consumers: consumerId,
    stocks: (yield* aStock(5)).id,
    orders: yield* made("/orders", { consumerId, items: [] }),
    webhooks: yield* made("/webhooks", { url: "https://shop.example/hooks", events: ["order.created"] }),
    pages: page,
    rehearsals: yield* aRehearsal(experienceId, "RUNNING"),
    gates: yield* made("/gates", { name: "Shop", hosts: ["shop.example"], rules: [] }),
    people: yield* made("/people", { email: `${randomUUID()}@example.com`, role: "viewer" })
  }
  return records
})

layer(usher, { excludeTestServices: true })("Forms that take something away", (it) => {
  it.effect("ask first on every screen, or need a typed word or key", () =>
    Effect.gen(function* () {
      const { get, send, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const records = yield* world
      const found = new Set<string>()
      for (const { method, path } of routes) {
        if (method === "POST" || path.includes(":action") || path.endsWith("/export")) continue
        // The query of these names a booking or a kind; a rehearsal has no report yet.
        if (/\/(people\/move|schedule\/add|report)$/.test(path)) continue
        const shown = path.replace(":rehearsal", records["rehearsals"]!)
        const address = `/dashboard${shown.replace(":id", records[path.split("/")[1] ?? ""] ?? "")}`
        const screen = yield* get(address)
        assert.strictEqual(screen.status, 200, address)
        for (const { action, fields, label } of formsOf(screen)) {
          if (!action.startsWith("/dashboard") || action.endsWith("/sign-out") || !takesAway.test(label)) continue
          // A rehearsal that was cancelled can be begun again.
          if (label === "Cancel the rehearsal") continue
          const content = screen.text.slice(screen.text.indexOf(`action="${action}"`)).split("</form>")[0]!
          found.add(label.replace(/ \S+@\S+/, ""))
          // Without the typed word or key nothing happens, so no question is needed.
          if (/type="password"|name="word"|name="confirmation"/.test(content)) {
            assert.include(
              [400, 403],
              (yield* send("POST", action, { ...fields, key: "", word: "", confirmation: "" })).status
            )
            continue
          }
          assert.notProperty(fields, "confirmed", `${label} of ${address} acts at once`)
          const reason = action.endsWith("/deny") ? "ADMIN_ACTION" : "OTHER"
          const chosen = content.includes('name="reason"') ? { reason } : {}
          const asked = yield* send("POST", action, { consumer: records["consumers"], ...fields, ...chosen })
          assert.strictEqual(asked.status, 200, `${label} of ${address}: ${asked.headers["location"]}`)
          assert.match(textOf(asked), /\?.*Cancel$/, `${label} of ${address} asks nothing`)
        }
      }
      assert.includeMembers(
        [...found],
        [
          "Archive…",
          "Archive 41…",
          "Archive the product…",
          "Remove picture 1…",
          "Remove",
          "Unpublish",
          "Disable",
          "End",
          "End all sessions",
          "Erase this consumer",
          "Replace the secret key"
        ]
      )
    })
  )

  it.effect("create one webhook and replace a key once, though each shows a secret once", () =>
    Effect.gen(function* () {
      const { get, send, signIn } = yield* operator
      const { brand: own } = yield* Usher
      yield* signIn(own.secretKey)
      const created = formsOf(yield* get("/dashboard/webhooks")).find(({ label }) => label === "Create webhook")!
      const typed = { ...created.fields, url: "https://once.example/hooks", events: "order.created" }
      const first = yield* send("POST", created.action, typed)
      assert.match(first.text, /whsec_/)
      const second = yield* send("POST", created.action, typed)
      assert.strictEqual(second.status, 303)
      const shown = yield* get(second.headers["location"]!)
      assert.include(textOf(shown), "This webhook was created before.")
      assert.notMatch(shown.text, /whsec_/)
      const { data } = yield* brand("GET", "/webhooks?first=100")
      assert.strictEqual(data.filter(({ url }: any) => url === "https://once.example/hooks").length, 1)
      // A form that was refused has created nothing, and may be sent again.
      const again = formsOf(yield* get("/dashboard/webhooks")).find(({ label }) => label === "Create webhook")!
      const wrong = { ...again.fields, url: "nonsense", events: "order.created" }
      assert.strictEqual((yield* send("POST", again.action, wrong)).status, 400)

      const keys = formsOf(yield* get("/dashboard/keys")).find(({ label }) => label === "Replace the publishable key")!
      const rotation = { ...keys.fields, key: own.secretKey }
      const replaced = yield* send("POST", keys.action, rotation)
      assert.match(replaced.text, /pk_live_[\w-]{32}/)
      const repeated = yield* send("POST", keys.action, rotation)
      assert.strictEqual(repeated.headers["location"], "/dashboard/keys")
      const { text } = yield* get("/dashboard/keys")
      assert.include(text, "was replaced before")
    })
  )
})
