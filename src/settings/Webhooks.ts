/** The settings of webhooks. */
import { choice, networks, whole } from "./Shapes.ts"

export const webhookDefinitions = {
  webhookDelivery: choice("WEBHOOK_DELIVERY", {
    fallback: "true",
    choices: { true: true, false: false },
    meaning:
      "Whether `usher serve` delivers webhooks. With `false` other processes must: those with `true`, or `usher webhooks deliver`."
  } as const),
  webhookNetworks: networks("WEBHOOK_NETWORKS", {
    whenAbsent: "webhooks reach public addresses only",
    meaning:
      "The operator's own networks that webhooks may reach. A webhook may use plain HTTP and an address without a " +
      "name there. Any organization can then send requests to these networks."
  }),
  webhooksPerSecond: whole("WEBHOOKS_PER_SECOND", {
    unit: "deliveries a second",
    fallback: 500,
    least: 1,
    most: 10_000,
    meaning: "The most webhook deliveries that this process starts."
  })
}
