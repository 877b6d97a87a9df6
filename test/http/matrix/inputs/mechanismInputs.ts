/** Inputs of the operations on mechanisms of one kind. Each request has new mechanisms. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Input, MakeInput, Name } from "../inputs.ts"
import { byServer, type Side, type World } from "../world.ts"

/** Makes the own consumer hold a grant in a mechanism. Returns the response with the grant. */
type Grant = (own: Side, id: string) => ReturnType<typeof byServer>

/**
 * Returns the inputs of a kind. `group` is its path on both APIs, and `param` its path parameter on the Consumer API.
 * `grant` defaults to an entry.
 */
export const inputsOf = (group: string, param: string, settings: () => object, grant?: Grant) => {
  /** Uses a new sequence each time, because a sequence has at most one waitlist. */
  const body = (side: Side) =>
    Effect.map(byServer("admin", side, "/sequences", { experienceId: side.experienceId, name: "Sale" }), ({ id }) => ({
      name: "Main",
      ...settings(),
      sequenceId: id as string
    }))

  const made = Effect.fnUntraced(function* (side: Side) {
    return (yield* byServer("admin", side, `/${group}`, yield* body(side))).id as string
  })

  /** Creates mechanisms in all tenants. Returns the name of the own one. */
  const named = Effect.fnUntraced(function* (own: Side, { sides }: World) {
    const others = [yield* made(sides.test), yield* made(sides.foreign)]
    return { own: yield* made(own), others, unknown: randomUUID() } satisfies Name
  })

  const enter = (own: Side, id: string) => byServer("consumer", own, `/${group}/${id}/enter`, undefined, own.consumerId)

  /** An operation for any caller or its consumer; `before` is an action to take first. */
  const on =
    (input: Omit<Input, "params" | "names">, before?: "enter" | "grant" | "end"): MakeInput =>
    (own, world) =>
      Effect.gen(function* () {
        const name = yield* named(own, world)
        if (before === "enter") yield* enter(own, name.own)
        if (before === "grant") yield* (grant ?? enter)(own, name.own)
        if (before === "end") yield* byServer("admin", own, `/${group}/${name.own}/end`, {})
        return { ...input, params: { [param]: name.own }, names: [name] }
      })

  /** The server's operation for a consumer with a grant. */
  const forHolder =
    (more: object = {}, status = 200): MakeInput =>
    (own, world) =>
      Effect.gen(function* () {
        const name = yield* named(own, world)
        const { admissionGrant } = yield* (grant ?? enter)(own, name.own)
        const { consumerId } = own
        const others = [world.sides.test.consumerId, world.sides.foreign.consumerId]
        return {
          params: { [param]: name.own },
          body: { consumerId, ...more, ...("token" in more && { token: admissionGrant }) },
          names: [name, { own: consumerId, others, unknown: randomUUID() }],
          status
        }
      })

  const record =
    (changes?: object): MakeInput =>
    (own, world) =>
      Effect.map(named(own, world), (name) => ({
        params: { id: name.own },
        names: [name],
        status: 200,
        ...(changes && { body: changes })
      }))

  const sequenceNamed = (own: Side, { sides }: World): Name => ({
    own: own.sequenceId,
    others: [sides.test.sequenceId, sides.foreign.sequenceId],
    unknown: randomUUID()
  })

  /** The operations of the Admin API that every kind has. */
  const admin: { readonly [operation: string]: MakeInput } = {
    [`POST /api/${group}`]: (own, world) =>
      Effect.map(body(own), (created) => ({
        body: created,
        status: 201,
        names: [{ ...sequenceNamed(own, world), own: created.sequenceId }]
      })),
    [`GET /api/${group}`]: (own, world) =>
      Effect.succeed({
        query: `sequenceId=${own.sequenceId}`,
        status: 200,
        strangerStatus: 200,
        names: [sequenceNamed(own, world)]
      }),
    [`GET /api/${group}/:id`]: record(),
    [`PUT /api/${group}/:id`]: record({ name: "Another" }),
    [`DELETE /api/${group}/:id`]: record(),
    [`POST /api/${group}/:id/end`]: record(),
    [`POST /api/${group}/:id/unpark`]: record()
  }

  return { on, forHolder, admin, record }
}
