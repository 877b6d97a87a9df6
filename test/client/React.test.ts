/** The hook for React. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { act, createElement } from "react"
import { create } from "react-test-renderer"
import { useExperience } from "../../src/client/react.ts"
import { room } from "../pages/support/roomFixture.ts"
import * as Fixture from "../pages/support/roomFixture.ts"
import { client, seen } from "./support/clientFixture.ts"

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })

layer(Fixture.layer, { excludeTestServices: true })("a component with the hook", (it) => {
  it.effect("shows the experience, acts, shows the outcome, and stops when it is gone", () =>
    Effect.gen(function* () {
      const { experienceId } = yield* room({ queues: [{ name: "Front door", admitRate: 0 }] })
      const usher = yield* client()
      const Drop = () => {
        const { view, act: acts } = useExperience(usher, experienceId)
        return createElement("button", { onClick: () => acts("enter"), title: view.state }, view.actions.join())
      }
      const rendered = yield* Effect.promise(() => act(async () => create(createElement(Drop))))
      assert.strictEqual(rendered.root.findByType("button").props["title"], "loading")
      const store = usher.experience(experienceId)
      yield* Effect.promise(() => act(() => Effect.runPromise(seen(store, ({ state }) => state === "enterable"))))
      const button = rendered.root.findByType("button")
      assert.deepInclude(button.props, { title: "enterable", children: "enter" })
      yield* Effect.promise(() => act(() => button.props["onClick"]()))
      assert.strictEqual(rendered.root.findByType("button").props["title"], "waiting")
      yield* Effect.promise(() => act(async () => rendered.unmount()))
    })
  )
})
