/**
 * The back button and the reload after each form of the dashboard: nothing is sent again, no browser asks whether it
 * should, and after the end of a session nothing of staff is shown.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { Usher } from "../../http/support/usherFixture.ts"
import { ofPages, opened, press, sees, signedIn } from "../support/browserFixture.ts"
import * as Fixture from "../support/roomFixture.ts"

/** A drop with somebody in its queue, and the address of its screens. */
const drop = Effect.gen(function* () {
  const { adminUrl } = yield* Usher
  const room = yield* Fixture.room({ queues: [{ name: "Line", admitRate: 0 }] })
  yield* room.submit(yield* room.get("place"), "Join the queue")
  return { adminUrl, url: `${adminUrl}/dashboard/experiences/${room.experienceId}`, experienceId: room.experienceId }
})

/** A person at the dashboard, and the forms that its browser has sent by leaving a page or coming to one. */
const atDashboard = Effect.gen(function* () {
  const window = yield* opened({ viewport: { width: 1_280, height: 900 } })
  yield* signedIn(window.page)
  const sent: Array<string> = []
  window.page.on("request", (request) => {
    if (request.method() === "POST" && request.isNavigationRequest()) sent.push(new URL(request.url()).pathname)
  })
  return { ...window, sent }
})

/** A screen of the dashboard is shown, and not what a browser shows in its place. */
const isScreen = async (page: Page) => {
  await page.locator("main h1").waitFor()
  assert.match(await page.title(), / · Usher$/)
}

/** Reloads, and goes back and forth. */
const wander = async (page: Page) => {
  const steps = ["reload", "goBack", "goForward", "reload", "goBack", "reload", "goForward"] as const
  for (const step of steps) {
    await page[step]()
    await isScreen(page)
  }
}

interface Sending {
  /** The address of the form, below the drop or the dashboard. */
  readonly at: string
  readonly send: (page: Page) => Promise<unknown>
  /** What the answer says. */
  readonly says: string
}

const ofDrop: { readonly [form: string]: Sending } = {
  "a look that is saved": { at: "/look", send: (page) => press(page, "Save"), says: "The look was saved." },
  "a schedule that is saved": {
    at: "/schedule",
    send: async (page) => {
      await page.getByLabel("Name", { exact: true }).first().fill("Other line")
      await press(page, "Save")
    },
    says: "Line was changed."
  },
  "a schedule that is refused": {
    at: "/schedule",
    send: async (page) => {
      const form = page.locator("form", { has: page.getByLabel("The drop opens") })
      await form.getByLabel("The drop opens").fill("2031-01-02T10:00")
      await form.getByLabel("The drop closes").fill("2031-01-01T10:00")
      await form.getByRole("button", { name: "Save" }).click()
    },
    says: "Nothing was changed."
  },
  "a denial that is asked about": {
    at: "/people",
    send: async (page) => {
      await page.locator("input[name=consumer]").first().check()
      await page.getByLabel("Reason").selectOption("FRAUD_DETECTED")
      await press(page, "Deny…")
    },
    says: "will lose the place"
  },
  "a denial": {
    at: "/people",
    send: async (page) => {
      await ofDrop["a denial that is asked about"]!.send(page)
      await press(page, "Deny 1 person")
    },
    says: "1 person was denied."
  },
  "a denial without a reason": {
    at: "/people",
    send: async (page) => {
      await page.evaluate(`document.querySelector("#deny").noValidate = true`)
      await press(page, "Deny…")
    },
    says: "Choose at least one person."
  }
}

const ofOrganization: { readonly [form: string]: Sending } = {
  "settings that are saved": { at: "/organization", send: (page) => press(page, "Save"), says: "Saved." },
  "a gate that is made, with a key that is shown once": {
    at: "/gates/new",
    send: async (page) => {
      await page.getByLabel("Name", { exact: true }).fill("Shop")
      await page.getByLabel("Hosts").fill("back.example")
      await page.getByLabel("Path of rule 1").fill("/checkout")
      await page.getByLabel("Rule 1 asks for").selectOption({ index: 1 })
      await press(page, "Make the gate")
    },
    says: "It is shown once"
  },
  "a new drop that is refused": {
    at: "/new?part=queue",
    send: async (page) => {
      await page.getByLabel("Name", { exact: true }).fill("Aurora")
      await page.getByLabel("Address of its picture").fill("http://cdn.example/aurora.jpg")
      await press(page, "Create the drop")
    },
    says: "Nothing was created yet."
  },
  "a new drop": {
    at: "/new?part=queue",
    send: async (page) => {
      await page.getByLabel("Name", { exact: true }).fill("Aurora")
      await press(page, "Create the drop")
    },
    says: "Aurora is created."
  },
  "a key that is wrong": {
    at: "/keys",
    send: async (page) => {
      await page.getByLabel("Current secret key").first().fill("sk_live_none")
      await press(page, "Replace the publishable key")
    },
    says: "Nothing was replaced."
  }
}

ofPages("After a form of the dashboard, the back button and a reload send nothing", (it) => {
  for (const [name, { at, send, says }] of [...Object.entries(ofDrop), ...Object.entries(ofOrganization)]) {
    it.effect(`after ${name}`, () =>
      Effect.gen(function* () {
        const { adminUrl, url } = yield* drop
        const { page, sent, problems } = yield* atDashboard
        yield* Effect.promise(async () => {
          await page.goto(`${adminUrl}/dashboard`)
          await page.goto(name in ofDrop ? url + at : `${adminUrl}/dashboard${at}`)
          await send(page)
          await sees(page, says)
          const before = sent.length
          assert.isAbove(before, 0)
          await wander(page)
          assert.deepStrictEqual(sent.slice(before), [])
        })
        assert.deepStrictEqual(problems, [])
      })
    )
  }

  it.effect("after a look that was shown in the room first: the way back leaves the screen at once", () =>
    Effect.gen(function* () {
      const { url } = yield* drop
      const { page } = yield* atDashboard
      yield* Effect.promise(async () => {
        await page.goto(`${url}/people`)
        await page.goto(`${url}/look`)
        const room = page.frameLocator("iframe")
        for (const state of ["Waiting", "At the turn"]) {
          await press(page, state)
          const name = state === "Waiting" ? "You are in line" : "It is your turn"
          await room.getByRole("heading", { name, exact: true }).waitFor()
        }
        await page.goBack()
        await page.waitForURL(`${url}/people`)
      })
    })
  )
})

ofPages("After the end of a session, the back button shows nothing of staff", (it) => {
  it.effect("from the server", () =>
    Effect.gen(function* () {
      const { url } = yield* drop
      const { page } = yield* atDashboard
      yield* Effect.promise(async () => {
        await page.goto(url)
        await page.goto(`${url}/people`)
        await press(page, "Sign out")
        await page.getByLabel("Secret key").waitFor()
        for (let steps = 0; steps < 2; steps++) {
          await page.goBack()
          await page.getByLabel("Secret key").waitFor()
          assert.strictEqual(await page.getByText("Spring drop").count(), 0)
        }
      })
    })
  )

  it.effect("from a browser that has kept the page whole", () =>
    Effect.gen(function* () {
      const { url } = yield* drop
      const { page, context } = yield* atDashboard
      yield* Effect.promise(async () => {
        await page.goto(`${url}/people`)
        await context.clearCookies()
        await page.evaluate(`dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`)
        await page.getByLabel("Secret key").waitFor()
        assert.strictEqual(await page.getByText("Spring drop").count(), 0)
      })
    })
  )
})
