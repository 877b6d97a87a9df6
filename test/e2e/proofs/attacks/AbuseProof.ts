/**
 * Each attack runs for a while beside honest shoppers at other addresses and the shop's own server. Before it, the same
 * shoppers run alone. They must get their answers during the attack, and their 99th percentile may at most double.
 *
 * Attackers, shoppers and server share one machine here, so the load of making the attack counts against the server.
 */
import { asPublic, type Attack, attacks, type Setup, summary } from "../../abuse/Attacks.ts"
import { crowdedAttacks } from "../../abuse/CrowdedAttacks.ts"
import { Client, paced, type Response } from "../../abuse/Clients.ts"
import { Apis } from "../../support/Apis.ts"
import { pause } from "../../support/Processes.ts"
import { type Keys, ServerUnderTest } from "../../support/ServerUnderTest.ts"

export interface Outcome {
  readonly attack: string
  /** The outcome of the attack. */
  readonly result: string
  /** The shoppers' 99th percentile in milliseconds, alone and during the attack. */
  readonly alone: number
  readonly attacked: number
  /** Answers of shoppers and of the shop that were not the expected ones. */
  readonly failures: ReadonlyArray<string>
}

export interface Figures {
  readonly outcomes: ReadonlyArray<Outcome>
}

const shopperAddresses = 20
const shopperRequestsPerSecond = 20
const shopRequestsPerSecond = 5

/** Small enough to be reached, and so that shoppers of a minute stay within the plan's limits. */
const settings = { CONNECTIONS_MAX: "1000", CONNECTIONS_PER_ADDRESS: "300", STREAMS_PER_ADDRESS: "100" }

/** The limits of codes and of general requests. The attacker uses up both; the shoppers stay within them. */
const rateLimits = { otpRequestsPerMinute: 10, consumerApiPerMinute: 1_200, adminApiPerMinute: 1_000 }

export async function abuseProof(options: {
  readonly millis: number
  readonly only?: ReadonlyArray<string>
}): Promise<Figures> {
  await using server = await ServerUnderTest.make({ settings })
  await server.start()
  const outcomes: Array<Outcome> = []
  for (const attack of [...attacks, ...crowdedAttacks]) {
    if (options.only !== undefined && !options.only.includes(attack.name)) continue
    // Each attack has an organization of its own, whose limits are unused.
    outcomes.push(await outcomeOf(attack, await setupOf(server), options.millis))
  }
  return { outcomes }
}

async function setupOf(server: ServerUnderTest): Promise<Setup> {
  const keys = await server.createOrganization()
  const limits = Object.entries(rateLimits).flatMap(([name, number]) => ["--limit", `${name}=${number}`])
  const organization = ["--organization", keys.organizationId, "--plan", "enterprise"]
  await server.usher(["organizations", "set-plan", ...organization, ...limits])
  return { server, keys, queueId: await createQueue(server, keys) }
}

async function outcomeOf(attack: Attack, setup: Setup, millis: number): Promise<Outcome> {
  const shoppers = Array.from(
    { length: shopperAddresses },
    (_, index) => new Client(setup.server.consumerUrl, `127.0.1.${index + 1}`)
  )
  const shop = new Client(setup.server.consumerUrl, "127.0.0.1")
  const run = attack.run ?? (await attack.prepare!(setup))
  await nextMinute(millis)
  const alone = await honest(shoppers, shop, setup, millis)
  const [attacked, result] = await Promise.all([
    pause(300).then(() => honest(shoppers, shop, setup, millis)),
    run(setup, millis + 500)
  ])
  for (const client of [...shoppers, shop]) client.close()
  const failures = [...alone.failures, ...attacked.failures]
  const medians = `median of shoppers ${alone.median.toFixed(1)} → ${attacked.median.toFixed(1)} ms`
  return {
    attack: attack.name,
    result: `${result}; ${medians}`,
    alone: alone.p99,
    attacked: attacked.p99,
    failures
  }
}

/** The load of honest callers. */
async function honest(shoppers: ReadonlyArray<Client>, shop: Client, { keys, queueId }: Setup, millis: number) {
  const [reads, codes, validations] = await Promise.all([
    paced(shopperRequestsPerSecond, millis, (index) =>
      shoppers[index % shoppers.length]!.send({ path: `/api/queues/${queueId}`, headers: asPublic(keys) })
    ),
    // One login from another address than the attacker's.
    paced(1_000 / millis, millis, () =>
      shoppers[0]!.send({
        method: "POST",
        path: "/api/auth/otp/request",
        headers: asPublic(keys),
        body: JSON.stringify({ email: `shopper${Math.floor(performance.now())}@example.com` })
      })
    ),
    paced(shopRequestsPerSecond, millis, () =>
      shop.send({
        method: "POST",
        path: `/api/queues/${queueId}/complete`,
        headers: { authorization: `Bearer ${keys.secretKey}` },
        body: JSON.stringify({ consumerId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a" })
      })
    )
  ])
  const millisOf = [...reads, ...validations].map((response) => response.millis)
  return {
    median: percentile(millisOf, 0.5),
    p99: percentile(millisOf, 0.99),
    failures: [
      ...unexpected("reads", reads, 200),
      ...unexpected("code requests", codes, 200),
      // The consumer is unknown, and so the shop was answered.
      ...unexpected("the shop's calls", validations, 404)
    ]
  }
}

function unexpected(name: string, responses: ReadonlyArray<Response>, status: number): ReadonlyArray<string> {
  const others = responses.filter((response) => response.status !== status)
  return others.length === 0 ? [] : [`${name}: ${summary(others)} instead of ${status}`]
}

/** Waits until both runs fit into one window of the limits. */
async function nextMinute(millis: number): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < 2 * millis + 3_000) await pause(left + 100)
}

async function createQueue(server: ServerUnderTest, keys: Keys): Promise<string> {
  using apis = new Apis(server, keys)
  const created = async (path: string, body: object) => {
    const answer = await apis.admin.send({ method: "POST", path: `/api${path}`, headers: apis.asShop, body })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status}`)
    return answer.body.id as string
  }
  const experienceId = await created("/experiences", { name: "Drop" })
  const sequenceId = await created("/sequences", { experienceId, name: "Sale" })
  return await created("/queues", { sequenceId, name: "Line", admitRate: 0 })
}

function percentile(values: ReadonlyArray<number>, share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
