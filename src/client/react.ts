/** The hook for React: an experience that keeps itself up to date while a component shows it. */
import { useSyncExternalStore } from "react"
import type { ExperienceStore, Snapshot, Usher } from "./client.ts"

/** Returns what to show of the experience, and the function that acts. */
export function useExperience(
  usher: Usher,
  experienceId: string
): { readonly view: Snapshot } & Pick<ExperienceStore, "act" | "continueTo"> {
  const store = usher.experience(experienceId)
  const view = useSyncExternalStore(store.subscribe, store.getSnapshot, store.getSnapshot)
  return { view, act: store.act, continueTo: store.continueTo }
}
