/** `usher seed`: fills an organization with sample data, to try lists, searches and analytics at size. */
import { Clock, Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { randomBytes } from "node:crypto"
import { Organizations } from "../auth/keys/Organizations.ts"
import { defaultCurrencyCode } from "../domain/values/Locale.ts"
import { seededRandom } from "../domain/values/SeededRandom.ts"
import { createsOrganization } from "../settings/ShellCommand.ts"
import { StartRefused } from "../settings/Settings.ts"
import * as Samples from "../store/postgres/Samples.ts"
import * as Environment from "./runtime/Environment.ts"
import { countsFor, makeRows, type Seller } from "./seed/Rows.ts"
import { makeProgress } from "./runtime/Progress.ts"
import { interruptible } from "./runtime/Signals.ts"

/** Rows per statement. */
const chunkMax = 2_000

const consumersMax = 10_000_000

const fill = Effect.fnUntraced(function* (seller: Seller, consumers: number) {
  const now = yield* Clock.currentTimeMillis
  const run = now.toString(36)
  const counts = countsFor(consumers)
  const rows = makeRows(seller, seededRandom(randomBytes(16).toString("hex")), run, now, counts)
  const progress = makeProgress(counts.products + counts.experiences + counts.pages + counts.consumers, now)

  /** Creates `count` records in chunks, and writes each chunk with the records that belong to it. */
  const inChunks = Effect.fnUntraced(function* <A, E, R>(
    what: string,
    count: number,
    make: (number: number) => A,
    write: (made: ReadonlyArray<A>) => Effect.Effect<void, E, R>
  ) {
    for (let from = 0; from < count; from += chunkMax) {
      const made = Array.from({ length: Math.min(chunkMax, count - from) }, (_, index) => make(from + index))
      yield* write(made)
      yield* progress.advance(what, made.length)
    }
  })

  yield* inChunks("products", counts.products, rows.product, (made) =>
    Effect.andThen(insertEach("products", made, "product"), insertEach("product_variants", made, "variant"))
  )
  const experienceIds: Array<string> = []
  yield* inChunks("experiences", counts.experiences, rows.experience, (made) => {
    experienceIds.push(...made.map(({ experience }) => experience["id"] as string))
    return Effect.andThen(insertEach("experiences", made, "experience"), insertEach("sequences", made, "sequence"))
  })
  const page = (number: number) => rows.page(experienceIds[number % experienceIds.length]!, number)
  yield* inChunks("pages", counts.pages, page, (made) => Samples.insert("experience_pages", made))
  let orders = 0
  yield* inChunks("consumers", counts.consumers, rows.consumer, (made) => {
    const ordered = made.flatMap((each) => each.orders)
    orders += ordered.length
    return Effect.andThen(insertEach("consumers", made, "consumer"), Samples.insert("orders", ordered))
  })
  yield* Samples.analyze
  yield* progress.end
  return { ...counts, orders }
})

/** Inserts the row that each of the made things has under this name. */
const insertEach = <Name extends string>(
  table: Samples.SampleTable,
  made: ReadonlyArray<{ readonly [N in Name]: Samples.SampleRow }>,
  name: Name
) =>
  Samples.insert(
    table,
    made.map((each) => each[name])
  )

/** Returns the named organization, or the only one. */
const selected = Effect.fnUntraced(function* (id: Option.Option<string>) {
  const organizations = yield* Organizations
  const all = yield* organizations.all
  const found = Option.isSome(id) ? all.find((each) => each.id === id.value) : all.length === 1 ? all[0] : undefined
  // Organizations are never removed.
  if (found !== undefined) return Option.getOrThrow(yield* organizations.find(found.id))
  const known = all.map(({ id, name }) => `${id} (${name})`).join(", ")
  const problem = Option.isSome(id) ? "There is no such organization" : "Name the organization with --organization"
  return yield* new StartRefused({
    message:
      all.length === 0
        ? `There is no organization yet: create one with \`${createsOrganization}\`.`
        : `${problem}: ${known}`
  })
})

/** The command `seed`. */
export const command = Command.make(
  "seed",
  {
    organization: Flag.String("organization").pipe(
      Flag.withDescription("The id of the organization; may be omitted if there is only one"),
      Flag.optional
    ),
    mode: Flag.Literals("mode", ["test", "live"]).pipe(
      Flag.withDescription("The mode to fill; records of the other mode are not touched"),
      Flag.withDefault("test")
    ),
    large: Flag.Int("large").pipe(
      Flag.withDescription("How many consumers (1 to 10000000); pages, orders, products and experiences in proportion"),
      Flag.filter(
        (count) => count >= 1 && count <= consumersMax,
        () => `a whole number from 1 to ${consumersMax}`
      ),
      Flag.withDefault(1_000)
    )
  },
  ({ organization, mode, large }) =>
    Effect.gen(function* () {
      const { id, name, settings } = yield* selected(organization)
      const { currencyCode = defaultCurrencyCode } = settings
      const made = yield* fill({ organizationId: id, mode, currencyCode }, large)
      const parts = Object.entries(made).map(([what, count]) => `${count.toLocaleString("en")} ${what}`)
      yield* Console.log(`Filled "${name}" (${mode}) with ${parts.join(", ")}.`)
    }).pipe(
      Effect.catchTag(["Unavailable", "SqlError"], (error) =>
        Effect.fail(new StartRefused({ message: `The data could not be written: ${String(error.cause)}` }))
      ),
      Effect.provide(Organizations.layer.pipe(Layer.provideMerge(Environment.withDatabase))),
      interruptible
    )
).pipe(
  Command.withDescription(
    "Fill an organization with sample data, to try lists, searches and analytics at size. Works while servers run."
  ),
  Command.withExamples([
    { command: "usher seed", description: "A thousand consumers and what belongs to them, in test mode" },
    { command: "usher seed --large 1000000", description: "A million" }
  ])
)
