/** The secrets of webhooks (`secrets/RecordSecrets.ts`). After a rotation the former one signs until the overlap ends. */
import { recordSecrets } from "../secrets/RecordSecrets.ts"

export const { presentColumns, formerColumns, presentOf, formerOf, openedPresent } = recordSecrets("webhook")
