//! What each number means, by the two servers' own lists; SQLSTATE where a number is on none of ours.

use dbagent_core::ErrorKind;

/// The kind of an error.
pub(super) fn of(number: u16, state: Option<&str>) -> ErrorKind {
    if let Some(kind) = by_number(number, state) {
        return kind;
    }
    match state.and_then(|s| s.get(..2)) {
        Some("08") => ErrorKind::Connection,
        Some("21" | "42") => ErrorKind::Syntax,
        Some("22") => ErrorKind::Data,
        Some("23") => ErrorKind::Constraint,
        Some("25") => ErrorKind::Refused,
        Some("28") => ErrorKind::Authentication,
        Some("40") => ErrorKind::Conflict,
        Some("0A") => ErrorKind::Unsupported,
        _ => ErrorKind::Engine,
    }
}

fn by_number(number: u16, state: Option<&str>) -> Option<ErrorKind> {
    Some(match number {
        // The text.
        1052
        | 1055
        | 1056
        | 1060
        | 1063..=1066
        | 1103
        | 1111
        | 1140
        | 1149
        | 1221
        | 1222
        | 1231
        | 1232
        | 1241
        | 1247
        | 1248
        | 1250
        | 1252
        | 1318
        | 1327
        | 1335
        | 1582
        | 1583
        | 1584
        | 3029
        | 3065
        | 3578..=3599 => ErrorKind::Syntax,
        1049 | 1051 | 1109 | 1146 | 1347 | 1356 | 1360 | 1932 | 3015 | 4091 => ErrorKind::UnknownObject,
        1054 | 1072 | 1166 => ErrorKind::UnknownColumn,
        1128 | 1305 | 1630 => ErrorKind::UnknownFunction,
        // Values.
        1139
        | 1210
        | 1242
        | 1264
        | 1265
        | 1267
        | 1270
        | 1271
        | 1292
        | 1300
        | 1365..=1367
        | 1406
        | 1411
        | 1416
        | 1425..=1427
        | 1441
        | 1454
        | 1525
        | 1690
        | 3037
        | 3055
        | 3140..=3158
        | 3516
        | 3548
        | 3617
        | 3685..=3700
        | 3704..=3708
        | 3711
        | 3712
        | 3854
        | 3903
        | 3988
        | 4035..=4044
        | 6138 => ErrorKind::Data,
        1022 | 1048 | 1062 | 1169 | 1216 | 1217 | 1364 | 1451 | 1452 | 1557 | 1586 | 1761 | 1762 | 1859
        | 3819 => ErrorKind::Constraint,
        // MySQL has another meaning for this number.
        4025 if state == Some("23000") => ErrorKind::Constraint,
        1116 | 1117 | 1118 | 1153 | 1162 | 1301 | 1390 | 1473 | 3170 => ErrorKind::TooLarge,
        // What may be done.
        1792 | 1290 | 1836 | 3906 | 4109 => ErrorKind::Refused,
        1044 | 1095 | 1142 | 1143 | 1227 | 1345 | 1370 | 1410 | 1419 | 1449 => ErrorKind::Permission,
        1235 | 1289 | 1286 | 1295 | 1791 => ErrorKind::Unsupported,
        // The login.
        1045 | 1130 | 1251 | 1275 | 1396 | 1524 | 1698 | 1820 | 1862 | 3118 | 3955 | 4151 => {
            ErrorKind::Authentication
        }
        1026 | 2026 | 3159 => ErrorKind::Tls,
        1040 | 1203 | 1226 => ErrorKind::TooManyConnections,
        1042
        | 1043
        | 1047
        | 1053
        | 1077..=1081
        | 1129
        | 1152
        | 1154..=1161
        | 1184
        | 1927
        | 3168
        | 3169
        | 4031 => ErrorKind::Connection,
        // Time, locks, resources.
        1969 | 3024 => ErrorKind::Timeout,
        1317 => ErrorKind::Cancelled,
        1099 | 1100 | 1205 | 1223 | 1568 | 3572 | 3573 => ErrorKind::Locked,
        1020 | 1213 | 1412 | 1614 | 1615 | 3058 => ErrorKind::Conflict,
        1021 | 1037 | 1038 | 1041 | 1104 | 1114 | 1119 | 1135 | 1206 | 1436 | 3636 => ErrorKind::Exhausted,
        1034 | 1035 | 1194 | 1195 | 1712 | 1877 => ErrorKind::Corrupt,
        1002..=1005 | 1014..=1019 | 1023..=1025 | 1027..=1031 | 1085 | 1086 => ErrorKind::Io,
        _ => return None,
    })
}

/// Whether the server ends the connection with this error.
pub(super) fn ends_the_connection(number: u16) -> bool {
    matches!(number, 1053 | 1077..=1081 | 1152..=1161 | 1184 | 1927 | 3168 | 3169 | 4031)
}

/// What to do about it.
pub(super) fn hint(number: u16, kind: ErrorKind) -> Option<&'static str> {
    Some(match (number, kind) {
        (1045 | 1698, _) => {
            "check user and password, and that the account may log in from this host; the server tells no more"
        }
        (1130, _) => "the server does not let this host log in: it needs an account for it",
        (1820 | 1862, _) => "the account's password has expired: set a new one with another client",
        (3118 | 3955 | 4151, _) => {
            "the account is locked or blocked for a while: ask whoever keeps the server"
        }
        (1524, _) => "the server lacks the plugin that the account logs in by",
        (1251, _) => {
            "the account logs in by an old method: give it caching_sha2_password or mysql_native_password"
        }
        (3159 | 1026, _) => "the server takes encrypted connections only: use ssl-mode=REQUIRED",
        (1040, _) => "all connections of the server are taken: try later, or raise max_connections",
        (1203 | 1226, _) => "the account has used up what it may: try later, or raise its limits",
        (1129, _) => {
            "the server blocks this host after too many failed connections: FLUSH HOSTS or restart it"
        }
        (1290 | 1836, _) => "the server is read-only, as replicas are",
        (1792, _) => "sessions of dbagent only read",
        (1055, _) => "under ONLY_FULL_GROUP_BY every selected column must be grouped by or aggregated",
        (1305 | 1630, _) => "no such function; with a space before ( a built-in one is not found either",
        (1295, _) => "this statement cannot be prepared, and dbagent runs nothing else",
        (3636, _) => "a recursive query may go as deep as cte_max_recursion_depth (1,000)",
        (1213, _) => "two transactions waited for each other; try again",
        (1205 | 3572 | 1223, _) => "another session holds a lock; try again when it is done",
        (1317, _) => "somebody stopped the statement on the server",
        (_, ErrorKind::Timeout) => {
            "ask for less: filter on an indexed column, aggregate, or leave out a join"
        }
        (_, ErrorKind::Permission) => {
            "the account lacks the right; ask for other objects, or have it granted"
        }
        (_, ErrorKind::TooLarge) => "ask for a part of the value or for its length",
        (_, ErrorKind::Exhausted) => "the server ran out of something: ask for less, or see its log",
        (_, ErrorKind::Corrupt) => "the table is damaged: CHECK TABLE and the server's log say more",
        (_, ErrorKind::Connection) => "the server is stopping, or ended the connection",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_decide_and_sqlstate_helps_out() {
        for (number, state, kind) in [
            (1064, "42000", ErrorKind::Syntax),
            (1146, "42S02", ErrorKind::UnknownObject),
            (1054, "42S22", ErrorKind::UnknownColumn),
            (1305, "42000", ErrorKind::UnknownFunction),
            (1142, "42000", ErrorKind::Permission),
            (1045, "28000", ErrorKind::Authentication),
            (3024, "HY000", ErrorKind::Timeout),
            (1969, "70100", ErrorKind::Timeout),
            (1317, "70100", ErrorKind::Cancelled),
            (1213, "40001", ErrorKind::Conflict),
            (1792, "25006", ErrorKind::Refused),
            (1290, "HY000", ErrorKind::Refused),
            (1040, "08004", ErrorKind::TooManyConnections),
            (4025, "23000", ErrorKind::Constraint),
            (9_999, "22003", ErrorKind::Data),
            (9_999, "42000", ErrorKind::Syntax),
            (9_999, "HY000", ErrorKind::Engine),
        ] {
            assert_eq!(of(number, Some(state)), kind, "{number} {state}");
        }
        assert_eq!(of(4025, Some("HY000")), ErrorKind::Engine, "MySQL means something else");
        assert_eq!(of(1064, None), ErrorKind::Syntax);
        assert_eq!(of(9_999, None), ErrorKind::Engine);
    }
}
