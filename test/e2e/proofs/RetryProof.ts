/**
 * Cuts connections after the request is written, at a random instant or when its answer begins, and sends the request
 * again. The journal would show a repeated effect.
 */
import { Apis, type Guest } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import type { HttpRequest } from "../support/HttpConnections.ts"
import { read } from "../invariants/Invariants.ts"
import type { Recorded } from "../invariants/Reader.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Figures {
  /** Requests whose connection was cut. */
  cut: number
  /** Cut requests that had already taken effect before the retry. */
  effective: number
  /** Repeated effects in the journal: the same change of a place twice in succession. */
  duplicates: number
  /**
   * Cut entries that the server processed after their consumer had left, so that the consumer is in the queue again.
   */
  late: number
  readonly violations: Array<string>
}

const workers = 48
const cutMillisMax = 12

/** Cuts about `cuts` requests. */
export async function retryProof(options: { readonly cuts: number; readonly seed: number }): Promise<Figures> {
  const dice = new Dice(options.seed)
  await using server = await ServerUnderTest.make()
  await server.start()
  using apis = new Apis(server, await server.createOrganization(), workers)
  const [queueId] = (await apis.createQueues(1)) as [string]
  const figures: Figures = { cut: 0, effective: 0, duplicates: 0, late: 0, violations: [] }
  const sentAgain = new Map<string, number>()

  /** Sends a request and cuts it up to three times, then sends it completely. */
  const insist = async (type: string, guest: Guest, message: HttpRequest): Promise<void> => {
    for (let cuts = dice.between(1, 3); cuts > 0; cuts--) {
      await apis.consumer.sendAndCut(message, dice.chance(0.2) ? "answered" : dice.between(0, cutMillisMax))
      figures.cut += 1
    }
    sentAgain.set(`${type} ${guest.consumerId}`, Date.now())
    const answer = await apis.consumer.send(message)
    if (answer.status !== 200) {
      figures.violations.push(`${type} retry returned ${answer.status}: ${JSON.stringify(answer.body)}`)
    }
  }

  const consumer = (guest: Guest, action: string): HttpRequest => ({
    method: "POST",
    path: `/api/queues/${queueId}/${action}`,
    headers: apis.as(guest)
  })
  const shop = ({ consumerId }: Guest, action: string): HttpRequest => ({
    method: "POST",
    path: `/api/queues/${queueId}/${action}`,
    headers: apis.asShop,
    body: { consumerId }
  })

  const work = async (): Promise<void> => {
    while (figures.cut < options.cuts) {
      const guest = await apis.guest()
      await insist("Entered", guest, consumer(guest, "enter"))
      if (dice.chance(0.3)) {
        await insist("Left", guest, consumer(guest, "leave"))
        continue
      }
      await insist("Granted", guest, shop(guest, "admit"))
      await insist("Completed", guest, shop(guest, "complete"))
    }
  }
  await Promise.all(Array.from({ length: workers }, work))

  const history = await apis.history(queueId)
  figures.violations.push(...read(history).violations)
  Object.assign(figures, repeatedIn(history))
  figures.effective = history.filter(
    ({ type, consumerId, at }) => at < (sentAgain.get(`${type} ${consumerId}`) ?? 0)
  ).length
  return figures
}

/** Counts repeated effects. No client here repeats an action on purpose. */
function repeatedIn(history: ReadonlyArray<Recorded>): { readonly duplicates: number; readonly late: number } {
  const last = new Map<string, string>()
  let duplicates = 0
  let late = 0
  for (const { type, consumerId } of history) {
    if (consumerId === undefined) continue
    const before = last.get(consumerId)
    if (before === "Left" && type === "Entered") late += 1
    else if (before === type || (before !== undefined && type === "Entered")) duplicates += 1
    last.set(consumerId, type)
  }
  return { duplicates, late }
}
