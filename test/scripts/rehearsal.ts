/**
 * R34: a rehearsal of six mechanisms over thirty days takes at most a minute for 5,000 people, equal seeds give equal
 * journals, and a server or one of several nodes that is killed in the midst of an advance goes on where it was.
 *
 *     npm run prove -- rehearsal --people 5000 --kills 50 --seed 7
 */
import { Dice } from "../e2e/support/Dice.ts"
import { Nodes } from "../e2e/support/Nodes.ts"
import { differences, killWhileAdvancing, type Played, Stage } from "../e2e/proofs/RehearsalProof.ts"
import { conclude, options } from "./Report.ts"

const { people, crowd, kills, nodes, seed, seconds } = options({
  people: 5_000,
  crowd: 200,
  kills: 5,
  nodes: 3,
  seed: 7,
  seconds: 60
})

const violations: Array<string> = []
const dice = new Dice(seed)
await using stage = await Stage.make()

/** Plays it, or says what the command said. */
const played = async (on: Stage, ...given: Parameters<Stage["rehearse"]>): Promise<Played> => {
  const result = await on.rehearse(...given)
  if (typeof result === "string") throw new Error(result)
  return result
}

const first = await played(stage, "six", people, seed)
console.log(`${people} people: ${first.report.seconds} s`)
const again = await played(stage, "six", people, seed)
console.log(`${people} people again: ${again.report.seconds} s`)
violations.push(...differences(first, again))

// People come a second time where a former rehearsal had them, so the smaller crowd is compared with its own. Kills meet
// units of a stock that are under way.
const quiet = await played(stage, "stock", crowd, seed)

/** Rehearses with kills until there were enough. Returns how many there were, and how many rehearsals broke off. */
const rehearseKilled = async (on: Stage) => {
  let [killed, broken] = [0, 0]
  while (killed < kills) {
    const left = kills - killed
    let killedNow = 0
    const result = await on.rehearse("stock", crowd, seed, async (isPlaying) => {
      killedNow = await killWhileAdvancing(on, left, dice, isPlaying)
    })
    killed += killedNow
    console.log(`${killed} kills`)
    if (typeof result === "string") {
      broken++
      if (!result.includes("/test-clock")) violations.push(`it broke off without a way on: ${result}`)
      await on.ask("DELETE", "/test-clock")
    } else violations.push(...differences(quiet, result))
  }
  return { killed, broken }
}

const alone = await rehearseKilled(stage)
await using clustered = await Nodes.make({ count: nodes, database: stage.servers[0]!.database })
const cluster = await stage.moveTo(clustered)
violations.push(...differences(quiet, await played(cluster, "stock", crowd, seed)))
const together = await rehearseKilled(cluster)

const events = first.journals.reduce((sum, journal) => sum + journal.length, 0)
const longest = Math.max(first.report.seconds, again.report.seconds)
conclude(
  "a drop is rehearsed within a minute, equal seeds give equal journals, and kills change nothing",
  {
    people,
    events,
    seconds: `${first.report.seconds} / ${again.report.seconds}`,
    kills: alone.killed,
    "broken off": alone.broken,
    [`kills of ${nodes} nodes`]: together.killed,
    "broken off on nodes": together.broken
  },
  violations,
  longest <= seconds && Math.min(alone.killed, together.killed) >= kills && first.report.unserved === 0
)
