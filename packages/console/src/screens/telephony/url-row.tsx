import { CopyButton } from "../../ui/copy-button.tsx";
import styles from "./telephony.module.css";

export interface UrlRowProps {
  readonly label: string;
  readonly url: string;
}

/** A URL to paste at a carrier. */
export function UrlRow({ label, url }: UrlRowProps) {
  return (
    <div className={styles.url}>
      <span className={styles.urlLabel}>{label}</span>
      <div className={styles.urlText}>
        <code>{url}</code>
        <CopyButton text={url} label={`Copy URL: ${label}`} />
      </div>
    </div>
  );
}
