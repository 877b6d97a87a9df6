import { assert, describe, it } from "@effect/vitest"
import { configurationProblems } from "../../../src/domain/draw/Configuration.ts"
import { decider } from "../../../src/domain/draw/Draw.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  archive,
  archived,
  at,
  configuration,
  configure,
  denied,
  drawn,
  end,
  ended,
  enter,
  entered,
  given,
  leave,
  left,
  tornDown,
  withoutFixing,
  won
} from "./history.ts"

const lifecycle = (draw: ReturnType<typeof given>, seconds: number) => decider.lifecycle(draw.state, at(seconds))

describe("ending a draw", () => {
  it("before the closing denies every consumer, and no entry is drawn", () => {
    const draw = given({}, [entered(1, "ada"), entered(2, "bob")])
    assert.deepStrictEqual(draw.when(3, end), [ended(3)])
    const shown = draw.view(3, "ada")
    assert.deepInclude(shown, { status: "DENIED", reason: "DRAW_CLOSED", deniedAt: at(3) })
    assertRefused(draw.unnoticed(3, leave("ada")), "WrongStatus", { status: "DENIED" })
    assert.deepStrictEqual(draw.until(1_000), [
      denied(3, "ada", "DRAW_CLOSED"),
      denied(3, "bob", "DRAW_CLOSED"),
      tornDown(3)
    ])
    assert.deepStrictEqual(draw.view(4, "ada"), shown)
    assert.isUndefined(decider.facts!(draw.state, at(1_000)).proof)
    assert.deepInclude(decider.statusFields(draw.state), {
      statusOverride: "ended",
      statusOverrideAt: at(3),
      statusOverrideBy: "admin",
      teardownStatus: "completed"
    })
  })

  it("between the closing and the drawing has the same effect", () => {
    const draw = given({}, [entered(1, "ada")])
    draw.until(150)
    assert.deepStrictEqual(draw.when(150, end), [ended(150)])
    assert.deepStrictEqual(draw.until(1_000), [denied(150, "ada", "DRAW_CLOSED"), tornDown(150)])
  })

  it("does not stop a drawing that has begun: the drawing is finished, and no consumer wins later", () => {
    const settings = { winnerCount: 2, continueSelectingUntilCompleted: true, admissionExpirationSeconds: 60 }
    const draw = given(settings, [entered(1, "ada"), entered(1, "bob"), entered(1, "eve")])
    draw.until(199)
    draw.apply(won(200, "bob"))
    assert.deepStrictEqual(draw.unnoticed(200, end), [ended(200)])
    draw.apply(ended(200))
    assert.strictEqual(draw.status(200, "ada"), "ENTERED")
    const brought = draw.until(200)
    assert.lengthOf(draw.winners, 2)
    assert.deepStrictEqual(brought.at(1), drawn(200))
    assert.include(brought.at(2), { _tag: "Denied", reason: "NOT_SELECTED" })
    draw.until(1_000)
    assert.lengthOf(draw.winners, 2)
  })

  it("after the drawing changes nothing if no other consumer could win", () => {
    const draw = given({}, [entered(1, "ada")])
    draw.until(200)
    assert.deepStrictEqual(draw.when(201, end), [])
    assert.deepStrictEqual(given({ closeAt: at(1), drawAt: at(1) }).when(2, end), [])
  })

  it("twice has the same effect as once", () => {
    const draw = given({}, [ended(1)])
    assert.deepStrictEqual(draw.when(2, end), [])
    assert.deepInclude(decider.statusFields(draw.state), { statusOverrideAt: at(1) })
  })

  it("changes nothing if no entry is left", () => {
    const draw = given({ continueSelectingUntilCompleted: true, admissionExpirationSeconds: 1 }, [entered(1, "ada")])
    draw.until(300)
    assert.deepStrictEqual(draw.when(300, end), [])
  })
})

describe("archiving", () => {
  it("ends a draw that is not over and archives it", () => {
    const draw = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(draw.when(2, archive), [ended(2), archived(2)])
    assert.deepInclude(decider.statusFields(draw.state), { archived: true, statusOverride: "ended" })
    assert.deepStrictEqual(draw.when(3, archive), [])
  })

  it("archives a draw that is over without an override", () => {
    const draw = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(draw.when(201, archive), [archived(201)])
    assert.deepInclude(decider.statusFields(draw.state), { archived: true, statusOverride: null })
  })
})

describe("the lifecycle", () => {
  it("is scheduled, open, settling from the closing until nothing is outstanding, and closed", () => {
    const draw = given({ openAt: at(10), admissionExpirationSeconds: 60 })
    assert.deepStrictEqual(
      [9, 10, 99, 100].map((seconds) => lifecycle(draw, seconds)),
      ["scheduled", "open", "open", "settling"]
    )
    draw.enter(10, "ada")
    draw.until(259)
    assert.strictEqual(lifecycle(draw, 259), "settling")
    draw.until(260)
    assert.strictEqual(lifecycle(draw, 260), "closed")
  })

  it("is over at once if a draw is created after its time", () => {
    const draw = given({ closeAt: at(1), drawAt: at(2) }, [], 10)
    assert.deepStrictEqual(
      withoutFixing(draw.noticed(10)).map(({ _tag }) => _tag),
      ["Closed", "Drawn", "TornDown"]
    )
  })
})

describe("configuring", () => {
  it("with the same settings changes nothing", () => {
    assert.deepStrictEqual(given({ winnerCount: 9 }).when(1, configure({ winnerCount: 9 })), [])
  })

  it("may change numbers and times while entry is open", () => {
    const draw = given({}, [entered(1, "ada"), entered(1, "bob")])
    draw.when(2, configure({ winnerCount: 2, closeAt: at(50), drawAt: at(60), capacity: 2, name: "Renamed" }))
    assertRefused(draw.when(3, enter("eve")), "Full", { retryAfterSeconds: 60 })
    draw.until(60)
    assert.lengthOf(draw.winners, 2)
  })

  it("is refused once entry has closed", () => {
    assertRefused(given().unnoticed(100, configure({ winnerCount: 2 })), "Closed")
    assertRefused(given().when(100, configure({ winnerCount: 2 })), "Closed")
    assertRefused(given({}, [ended(1)]).when(2, configure({ winnerCount: 2 })), "Closed")
  })

  it("may move the opening until it has happened", () => {
    const draw = given({ openAt: at(60) })
    draw.when(1, configure({ openAt: at(30) }))
    assertRefused(draw.when(30, configure({ openAt: at(90) })), "ConfigurationFixed", { setting: "openAt" })
    assertRefused(given().when(0, configure({ openAt: at(90) })), "ConfigurationFixed", { setting: "openAt" })
  })

  it("may not change the settings that decide the winners after the first entry", () => {
    const changes = { loyaltyBiasEnabled: true, loyaltyWeight: 2, beacon: "drand" } as const
    for (const [setting, value] of Object.entries(changes)) {
      const draw = given()
      assert.lengthOf(draw.when(1, configure({ [setting]: value })) as ReadonlyArray<unknown>, 1)
      draw.when(2, configure({}))
      draw.enter(3, "ada")
      draw.apply(left(4, "ada"))
      assertRefused(draw.when(5, configure({ [setting]: value })), "ConfigurationFixed", { setting })
    }
  })
})

describe("contradictory settings of a draw", () => {
  const fields = (settings: Parameters<typeof configuration>[0]) =>
    configurationProblems(configuration(settings)).map((problem) => problem.field)

  it("include a closing that is not after the opening", () => {
    assert.deepStrictEqual(fields({ openAt: at(100) }), ["closeAt"])
    assert.deepStrictEqual(fields({ openAt: at(99) }), [])
  })

  it("include a drawing before the closing", () => {
    assert.deepStrictEqual(fields({ drawAt: at(99) }), ["drawAt"])
    assert.deepStrictEqual(fields({ drawAt: at(100) }), [])
  })
})
