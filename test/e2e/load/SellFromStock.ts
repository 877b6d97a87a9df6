/** A short sale from one stock: orders with and without a grant, cancellations, corrections, and the end. */
import type { Apis } from "../support/Apis.ts"
import { pause } from "../support/Processes.ts"

/** Longer than units need to a mechanism, and back. */
const carriedMillis = 2_000

/** Plays the sale, and archives the stock and its queue. Returns their ids, and an order that was not cancelled. */
export async function sellFromStock(apis: Apis) {
  const productId = await apis.create("/products", { name: "Boots" })
  const variant = { productId, sku: "42", inventoryPolicy: "deny", inventoryQuantity: 6 }
  const variantId = await apis.create("/variants", variant)
  const stockId = await apis.create("/stocks", { name: "Pairs", variantIds: [variantId], lowAt: 2 })
  const [queueId] = await apis.createQueues(1, { admitRate: 60_000, stockId })
  const items = (quantity: number) => [{ productVariantId: variantId, quantity, unitPrice: "9" }]
  const guests = await Promise.all(Array.from({ length: 3 }, () => apis.guest()))
  for (const guest of guests) await apis.enter(queueId!, guest)
  await pause(carriedMillis)
  const [first, second, third] = guests
  const sold = await apis.create("/orders", { consumerId: first!.consumerId, distributionId: queueId, items: items(1) })
  await apis.leave(queueId!, second!)
  const order = await apis.create("/orders", { consumerId: third!.consumerId, items: items(3) })
  await apis.change(`/orders/${order}`, { status: "CANCELLED" })
  await apis.doAsAdmin("POST", `/stocks/${stockId}/adjust`, { by: -3, reason: "DAMAGED" })
  await apis.doAsAdmin("POST", `/stocks/${stockId}/adjust`, { by: 4, reason: "DELIVERED" })
  await apis.doAsAdmin("POST", `/queues/${queueId}/end`)
  await apis.act(queueId!, "deny", third!.consumerId)
  await pause(carriedMillis)
  await apis.doAsAdmin("DELETE", `/stocks/${stockId}`)
  await apis.doAsAdmin("DELETE", `/queues/${queueId}`)
  return { stockId, queueId: queueId!, orderId: sold, variantId }
}
