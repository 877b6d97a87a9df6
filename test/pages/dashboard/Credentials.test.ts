/** Every route of the dashboard, without a session, with each role, and from another organization. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { mayDo, type Role } from "../../../src/domain/organization/Person.ts"
import { routesOf } from "../../../src/pages/dashboard/Routes.ts"
import { Usher } from "../../http/support/usherFixture.ts"
import { operator, person } from "../support/operatorFixture.ts"
import { brand, layer as usher } from "../support/roomFixture.ts"
import { aRehearsal } from "../../http/support/rehearsalFixture.ts"
import { aStock } from "../support/stockFixture.ts"

/** Routes need services only when they run. */
const routes = routesOf({} as Parameters<typeof routesOf>[0])

const document = { schemaVersion: 1, editor: "rich-content-v0", kind: "experience-page", body: { blocks: [] } }

/** The records that paths name, by the first word of the path. */
const world = Effect.gen(function* () {
  const { queue, guest } = yield* Usher
  const mechanism = yield* queue()
  const { experienceId } = yield* brand("GET", `/queues/${mechanism}`)
  const { consumerId } = yield* guest()
  const made = (path: string, body: object) => Effect.map(brand("POST", path, body), ({ id }) => id as string)
  const records: { readonly [section: string]: string } = {
    mechanisms: mechanism,
    experiences: experienceId,
    catalogue: yield* made("/products", { name: "Sneaker" }),
    consumers: consumerId,
    rehearsals: yield* aRehearsal(experienceId),
    stocks: (yield* aStock(5)).id,
    orders: yield* made("/orders", { consumerId, items: [] }),
    webhooks: yield* made("/webhooks", { url: "https://shop.example/hooks", events: ["order.created"] }),
    gates: yield* made("/gates", { name: "Shop", hosts: ["shop.example"], rules: [] }),
    pages: yield* made("/experience-pages", { experienceId, slug: "a", title: "A", creativeDocument: document }),
    people: yield* made("/people", { email: `${randomUUID()}@example.com`, role: "viewer" })
  }
  return records
})

/** The fields that a form needs before it looks at its record. */
const fields = { confirmation: "ERASE", role: "viewer", reason: "OTHER", confirmed: "yes" }

/** The address of a route, and what its form sends. */
const requestOf = ({ path }: { readonly path: string }, records: { readonly [section: string]: string }) => {
  const section = path.split("/")[1] ?? ""
  const id = records[section] ?? "unknown"
  const named = path
    .replace(":id", id)
    .replace(":action", "end")
    .replace(":variantId", randomUUID())
    .replace(":rehearsal", records["rehearsals"]!)
  return { path: `/dashboard${named}`, fields: { ...fields, mechanism: records["mechanisms"] } }
}

/** Routes whose answer depends on no record of the organization, or that name their record in the form. */
const withoutRecord = (path: string) => !path.includes(":id")

layer(usher, { excludeTestServices: true })("The routes of the dashboard", (it) => {
  it.effect("are all known here, and name records that exist", () =>
    Effect.gen(function* () {
      const { rehearsals: _, ...records } = yield* world
      const sections = new Set(routes.filter(({ path }) => !withoutRecord(path)).map(({ path }) => path.split("/")[1]!))
      assert.sameMembers([...sections], Object.keys(records))
      assert.isAbove(routes.length, 30)
      assert.strictEqual(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size, routes.length)
    })
  )

  it.effect("lead to the sign-in without a session, and change nothing", () =>
    Effect.gen(function* () {
      const records = yield* world
      const nobody = yield* operator
      for (const route of routes) {
        const { path, fields } = requestOf(route, records)
        const answer = yield* nobody.send(route.method, path, route.method === "POST" ? fields : undefined)
        const signIn = route.method === "GET" ? "/dashboard/sign-in" : "/dashboard/sign-in?ended"
        assert.deepStrictEqual([answer.status, answer.headers["location"]], [303, signIn], path)
      }
    })
  )

  it.effect("refuse a role that is too low, before they look at anything", () =>
    Effect.gen(function* () {
      const records = yield* world
      for (const role of ["viewer", "operator"] as const satisfies ReadonlyArray<Role>) {
        const browser = yield* person(`${randomUUID()}@example.com`, role)
        for (const route of routes) {
          const { path, fields } = requestOf(route, records)
          if (mayDo(role, route.role)) continue
          const answer = yield* browser.send(route.method, path, route.method === "POST" ? fields : undefined)
          assert.strictEqual(answer.status, 403, `${role} ${route.method} ${path}`)
          assert.include(answer.text, `This needs the role ${route.role}`)
        }
      }
      const writes = routes.filter(({ method, path }) => method === "POST" && path !== "/switch")
      assert.isTrue(writes.every(({ role }) => role !== "viewer"))
    })
  )

  it.effect("show every screen to a viewer", () =>
    Effect.gen(function* () {
      const records = yield* world
      const browser = yield* person(`${randomUUID()}@example.com`, "viewer")
      for (const route of routes) {
        // A stream does not end, and a rehearsal that broke off shows neither progress nor a report.
        if (route.method === "POST" || route.role !== "viewer" || /\/(events|progress|report)$/.test(route.path))
          continue
        const { path } = requestOf(route, records)
        const answer = yield* browser.get(path)
        assert.strictEqual(answer.status, 200, `${path}: ${answer.text}`)
        // The script fills the table of the control room, with a caption of its own.
        assert.notMatch(answer.text, /<table>(?!\s*<caption>|<\/table>)/, path)
      }
    })
  )

  it.effect("lead to a screen from the address that a form leaves in the browser", () =>
    Effect.gen(function* () {
      const { brand } = yield* Usher
      const records = yield* world
      const browser = yield* operator
      yield* browser.signIn(brand.secretKey)
      const screens = new Set(routes.flatMap(({ method, path }) => (method === "GET" ? [path] : [])))
      for (const route of routes) {
        if (screens.has(route.path)) continue
        const left = yield* browser.get(`${requestOf(route, records).path}?done=1`)
        assert.strictEqual(left.status, 303, route.path)
        const screen = yield* browser.get(left.headers["location"]!)
        assert.deepStrictEqual([screen.status, screen.headers["content-type"]], [200, "text/html; charset=utf-8"])
      }
      for (const path of ["code", "verify"])
        assert.strictEqual((yield* browser.get(`/dashboard/sign-in/${path}`)).headers["location"], "/dashboard/sign-in")
      assert.strictEqual((yield* browser.get("/dashboard/sign-out")).headers["location"], "/dashboard")
    })
  )

  it.effect("refuse forms of other sites", () =>
    Effect.gen(function* () {
      const { brand } = yield* Usher
      const records = yield* world
      const browser = yield* operator
      yield* browser.signIn(brand.secretKey)
      for (const route of routes) {
        if (route.method === "GET") continue
        const { path, fields } = requestOf(route, records)
        const answer = yield* browser.send("POST", path, fields, { "sec-fetch-site": "cross-site" })
        assert.strictEqual(answer.status, 403, path)
        assert.include(answer.text, "another site")
      }
    })
  )
})

// The requests of one address are limited by the minute, so these go to a server of their own.
layer(usher, { excludeTestServices: true })("The routes of records", (it) => {
  it.effect("are a 404 for an invalid id", () =>
    Effect.gen(function* () {
      const { brand } = yield* Usher
      const browser = yield* operator
      yield* browser.signIn(brand.secretKey)
      for (const { method, path } of routes) {
        if (withoutRecord(path)) continue
        const asked = `/dashboard${path.replace(":id", "nonsense").replace(":action", "end")}`
        const answer = yield* browser.send(method, asked, method === "POST" ? {} : undefined)
        assert.strictEqual(answer.status, 404, `${method} ${asked}`)
      }
    })
  )

  it.effect("are a 404 for an operator of another organization, and of the other mode", () =>
    Effect.gen(function* () {
      const { brand, stranger } = yield* Usher
      const records = yield* world
      for (const secretKey of [stranger.secretKey, brand.testSecretKey]) {
        const foreign = yield* operator
        yield* foreign.signIn(secretKey)
        for (const route of routes) {
          if (withoutRecord(route.path) || route.path.endsWith("/figures")) continue
          const { path, fields } = requestOf(route, records)
          const answer = yield* foreign.send(route.method, path, route.method === "POST" ? fields : undefined)
          assert.strictEqual(answer.status, 404, `${route.method} ${path}: ${answer.text}`)
        }
      }
    })
  )
})
