/** The report of a rehearsal with a few mistakes, for its picture. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect } from "effect"
import { crowdOf } from "../../../src/domain/rehearsal/Crowd.ts"
import { pageOf } from "../../../src/load/rehearsal/Page.ts"
import { rehearse } from "../../../src/load/rehearsal/Rehearsal.ts"
import type { Apis } from "../../e2e/support/Apis.ts"
import type { Keys, ServerUnderTest } from "../../e2e/support/ServerUnderTest.ts"
import { draw, dropOf, english, product, queue, variant } from "../../e2e/proofs/rehearsal/parts.ts"

/** More units than stock, a draw without beacon, and no webhook. */
const drop = {
  ...dropOf({
    queues: [{ ...queue, maxAdmissions: 90 }],
    draws: [{ ...draw, beacon: undefined }],
    auctions: [english]
  }),
  name: "The winter coat",
  newProducts: [{ ...product, variants: [{ ...variant, inventoryQuantity: 60 }] }]
}

/** Makes the live drop, rehearses it with 300 people, and returns the page. */
export const rehearsalPage = async (server: ServerUnderTest, keys: Keys, apis: Apis): Promise<string> => {
  const experienceId = await apis.create("/experiences", drop)
  const { consumerUrl: url, adminUrl } = server
  const report = await Effect.runPromise(
    rehearse({
      experienceId,
      url,
      adminUrl,
      keys: { live: keys.secretKey, test: keys.testSecretKey },
      crowd: crowdOf({ people: 300, patience: { median: "30 minutes", spread: 2 } }),
      declared: [],
      seed: 7,
      from: undefined,
      onStep: () => Effect.void
    }).pipe(Effect.provide(NodeHttpClient.layerUndici))
  )
  return pageOf(report)
}
