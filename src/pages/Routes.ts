/** The pages of both listeners, with the operations that they run. */
import { Layer } from "effect"
import * as Admin from "../http/admin/Routes.ts"
import * as Consumer from "../http/consumer/Routes.ts"
import * as Dashboard from "./dashboard/Routes.ts"
import { PagePreview } from "./dashboard/screens/PagePreview.ts"
import * as Room from "./room/Routes.ts"
import * as Scripts from "./Scripts.ts"

/** The rooms and the modules of shops, on the consumer listener. */
export const consumer = Layer.merge(Room.layer.pipe(Layer.provide(Consumer.handlers)), Scripts.layer)

/** The dashboard, on the admin listener. Its previews show rooms. */
export const admin = Dashboard.layer.pipe(
  Layer.provide(Admin.handlers),
  Layer.provide(PagePreview.layer.pipe(Layer.provide(Consumer.handlers)))
)
