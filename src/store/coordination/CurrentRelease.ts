/** The release that this process runs as. Only tests run as another than {@link release}. */
import { Context } from "effect"
import { release, type Release } from "../../domain/values/Release.ts"

export const CurrentRelease = Context.Reference<Release>("usher/store/coordination/CurrentRelease", {
  defaultValue: () => release
})
