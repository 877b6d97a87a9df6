/**
 * R34: a rehearsal of six mechanisms over thirty days takes at most a minute for 5,000 people, equal seeds give equal
 * journals, and a server that is killed in the midst of an advance goes on where it was.
 *
 *     npm run prove -- rehearsal --people 5000 --kills 50 --seed 7
 */
import { Dice } from "../e2e/support/Dice.ts"
import { differences, killWhileAdvancing, type Played, Stage } from "../e2e/proofs/RehearsalProof.ts"
import { conclude, options } from "./Report.ts"

const { people, crowd, kills, seed, seconds } = options({ people: 5_000, crowd: 200, kills: 5, seed: 7, seconds: 60 })

const violations: Array<string> = []
const dice = new Dice(seed)
await using stage = await Stage.make()

/** Plays it, or says what the command said. */
const played = async (...given: Parameters<Stage["rehearse"]>): Promise<Played> => {
  const result = await stage.rehearse(...given)
  if (typeof result === "string") throw new Error(result)
  return result
}

const first = await played(people, seed)
console.log(`${people} people: ${first.report.seconds} s`)
const again = await played(people, seed)
console.log(`${people} people again: ${again.report.seconds} s`)
violations.push(...differences(first, again))

// People come a second time where a former rehearsal had them, so the smaller crowd is compared with its own.
const quiet = await played(crowd, seed)
let [killed, broken] = [0, 0]
while (killed < kills) {
  const left = kills - killed
  let killedNow = 0
  const result = await stage.rehearse(crowd, seed, async (isPlaying) => {
    killedNow = await killWhileAdvancing(stage, left, dice, isPlaying)
  })
  killed += killedNow
  console.log(`${killed} kills`)
  if (typeof result === "string") {
    broken++
    if (!result.includes("/test-clock")) violations.push(`it broke off without a way on: ${result}`)
    await stage.ask("DELETE", "/test-clock")
  } else violations.push(...differences(quiet, result))
}

const events = first.journals.reduce((sum, journal) => sum + journal.length, 0)
const longest = Math.max(first.report.seconds, again.report.seconds)
conclude(
  "a drop is rehearsed within a minute, equal seeds give equal journals, and kills change nothing",
  { people, events, seconds: `${first.report.seconds} / ${again.report.seconds}`, kills: killed, "broken off": broken },
  violations,
  longest <= seconds && killed >= kills && first.report.unserved === 0
)
