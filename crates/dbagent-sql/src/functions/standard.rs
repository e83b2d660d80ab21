//! Functions that nearly every SQL engine has, and that only compute.

crate::functions! {
    /// Functions that mean the same thing on nearly every engine and only compute: a start for a dialect's own
    /// table, see [`FunctionTable::over`](crate::FunctionTable::over).
    ///
    /// An engine may have made one of these something else: check the list against its manual.
    pub const STANDARD = {
        read {
            abs acos any_value array_agg asin atan atan2 avg bit_and bit_length bit_or cast ceil ceiling
            char_length character_length coalesce concat concat_ws convert corr cos cosh cot count covar_pop
            covar_samp cume_dist current_date current_time current_timestamp degrees dense_rank every exp
            extract first_value floor greatest grouping json_array json_object lag last_value lead least left
            length ln localtime localtimestamp log log10 log2 lower lpad ltrim max md5 median min mod
            month nth_value ntile nullif octet_length overlay percent_rank percentile_cont percentile_disc
            pi position pow power quarter radians rank regr_avgx regr_avgy regr_count regr_intercept regr_r2
            regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right round row_number rpad rtrim
            sign sin sinh sqrt stddev stddev_pop stddev_samp string_agg substr substring sum tan tanh
            translate trim trunc unnest upper var_pop var_samp variance year
        }
    }
}
