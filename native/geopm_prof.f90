! Marking of regions from Fortran: geopm_fortran(3). Names end in //c_null_char.
module geopm_prof
    use, intrinsic :: iso_c_binding
    implicit none

    integer(8), parameter :: GEOPM_REGION_HINT_UNSET = 0
    integer(8), parameter :: GEOPM_REGION_HINT_UNKNOWN = 1
    integer(8), parameter :: GEOPM_REGION_HINT_COMPUTE = 2
    integer(8), parameter :: GEOPM_REGION_HINT_MEMORY = 3
    integer(8), parameter :: GEOPM_REGION_HINT_NETWORK = 4
    integer(8), parameter :: GEOPM_REGION_HINT_IO = 5
    integer(8), parameter :: GEOPM_REGION_HINT_SERIAL = 6
    integer(8), parameter :: GEOPM_REGION_HINT_PARALLEL = 7
    integer(8), parameter :: GEOPM_REGION_HINT_IGNORE = 8
    integer(8), parameter :: GEOPM_REGION_HINT_INACTIVE = 9
    integer(8), parameter :: GEOPM_REGION_HINT_SPIN = 10

    interface
        function geopm_prof_region(region_name, hint, region_id) bind(C) result(err)
            import :: c_char, c_int, c_int64_t
            character(kind=c_char), intent(in) :: region_name(*)
            integer(c_int64_t), value, intent(in) :: hint
            integer(c_int64_t), intent(out) :: region_id
            integer(c_int) :: err
        end function

        function geopm_prof_enter(region_id) bind(C) result(err)
            import :: c_int, c_int64_t
            integer(c_int64_t), value, intent(in) :: region_id
            integer(c_int) :: err
        end function

        function geopm_prof_exit(region_id) bind(C) result(err)
            import :: c_int, c_int64_t
            integer(c_int64_t), value, intent(in) :: region_id
            integer(c_int) :: err
        end function

        function geopm_prof_epoch() bind(C) result(err)
            import :: c_int
            integer(c_int) :: err
        end function

        function geopm_prof_shutdown() bind(C) result(err)
            import :: c_int
            integer(c_int) :: err
        end function

        function geopm_prof_overhead(overhead_sec) bind(C) result(err)
            import :: c_double, c_int
            real(c_double), value, intent(in) :: overhead_sec
            integer(c_int) :: err
        end function

        function geopm_tprof_init(num_work_unit) bind(C) result(err)
            import :: c_int, c_int32_t
            integer(c_int32_t), value, intent(in) :: num_work_unit
            integer(c_int) :: err
        end function

        function geopm_tprof_post() bind(C) result(err)
            import :: c_int
            integer(c_int) :: err
        end function
    end interface
end module geopm_prof
