/** A page of a shop, of another origin, with the widget in it. */
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Usher } from "../../http/support/usherFixture.ts"
import { opened } from "./browserFixture.ts"
import * as Fixture from "./roomFixture.ts"

interface Embedding {
  /** The policy of the shop's page. */
  readonly policy?: string
  /** Further attributes of the widget. */
  readonly attributes?: string
  readonly theme?: object
}

/** A page of a shop with the widget in it, and a window to visit it with. The shop keeps the grants that it is sent. */
export const embedded = Effect.fnUntraced(function* ({ policy, attributes = "", theme }: Embedding = {}) {
  const { consumerUrl, brand } = yield* Usher
  const sold: Array<string> = []
  let experienceId = ""
  const shop = createServer((request, response) => {
    if (policy !== undefined) response.setHeader("content-security-policy", policy)
    request.setEncoding("utf8").on("data", (chunk) => sold.push(new URLSearchParams(chunk).get("usher_grant")!))
    response.setHeader("content-type", "text/html").end(`<!doctype html><html lang="en"><title>Shop</title>
      <script>
        window.grants = []
        document.addEventListener("usher-granted", ({ detail }) => grants.push(detail.grant))
      </script>
      <script type="module" src="${consumerUrl}/embed/v1.js"></script>
      <main>
        <h1>Shop</h1>
        <usher-experience experience="${experienceId}" url="${consumerUrl}" key="${brand.publishableKey}" ${attributes}>
          <a href="${consumerUrl}/e/${experienceId}">To the drop</a>
        </usher-experience>
      </main>`)
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => shop.listen(0, "127.0.0.1", () => resolve()))),
    () => Effect.sync(() => shop.closeAllConnections()).pipe(Effect.andThen(Effect.sync(() => shop.close())))
  )
  const url = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/`
  yield* Fixture.brand("PUT", "/organizations/me", { allowedOrigins: [new URL(url).origin] })
  const queues = [{ name: "Front door", admitRate: 0 }]
  const made = yield* Fixture.room({ queues }, theme === undefined ? {} : { theme })
  experienceId = made.experienceId
  return { ...(yield* opened()), url, sold, queueId: made.sequence.queues[0].id as string }
})
