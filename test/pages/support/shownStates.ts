/** Every state of a room as the server writes it, in three languages, for tests that look at all of them. */
import { Context, Effect, Layer } from "effect"
import { Apis } from "../../e2e/support/Apis.ts"
import { ServerUnderTest } from "../../e2e/support/ServerUnderTest.ts"
import { bringAbout, prepare, type Rooms } from "./bringing.ts"
import { Browsing } from "./browserFixture.ts"
import { states } from "./roomStates.ts"

const languages = ["en", "de", "ar"]

/** States that come about at the same time. Most of the time passes by waiting for a closing. */
const concurrency = 8

interface Shown {
  /** The name of the state, and the language. */
  readonly name: string
  readonly html: string
}

export class ShownStates extends Context.Service<ShownStates, ReadonlyArray<Shown>>()("usher/test/pages/ShownStates") {
  static readonly layer = Layer.effect(
    ShownStates,
    Effect.gen(function* () {
      const { browser } = yield* Browsing
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => ServerUnderTest.make()),
        (made) => Effect.promise(() => made[Symbol.asyncDispose]())
      )
      const rooms = yield* Effect.promise(async () => {
        await server.start()
        const apis = new Apis(server, await server.createOrganization())
        return { browser, consumerUrl: server.consumerUrl, apis, productId: await prepare(apis) }
      })
      const shown = Effect.forEach(Object.keys(states), (name) => Effect.promise(() => pagesOf(rooms, name)), {
        concurrency
      })
      return (yield* Effect.ensuring(
        shown,
        Effect.sync(() => rooms.apis[Symbol.dispose]())
      )).flat()
    })
  ).pipe(Layer.provide(Browsing.layer))
}

/** Brings about a state, and reads its page in each language. */
const pagesOf = async (rooms: Rooms, name: string): Promise<ReadonlyArray<Shown>> => {
  const state = states[name]!
  const { page, context } = await bringAbout(rooms, state, {})
  const shown: Array<Shown> = []
  if (state.isAnswer) shown.push({ name: `${name} in en`, html: still(await page.content()) })
  else {
    for (const language of languages) {
      const url = new URL(page.url())
      url.searchParams.set("lang", language)
      shown.push({ name: `${name} in ${language}`, html: still(await (await page.request.get(url.href)).text()) })
    }
  }
  await context.close()
  return shown
}

/** The page without its scripts, and with what they show. */
const still = (html: string): string =>
  html.replaceAll(/<script[^]*?<\/script>/g, "").replaceAll(/(<p data-notified="[^"]*") hidden/g, "$1")
